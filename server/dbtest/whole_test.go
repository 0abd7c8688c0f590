package dbtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/server/store"
)

// A test that leaves another schema than it found would fail the next one: it is
// told so itself.
func TestWholeDatabaseThatWasChangedIsNotGivenOn(t *testing.T) {
	t.Parallel()
	Whole(t, store.Postgres) // whose shape is the measure
	err := within(Fresh(t, store.Postgres), func(ctx context.Context, conn *pgx.Conn) error {
		if err := unchanged(ctx, conn); err != nil {
			t.Errorf("an unchanged database: %v", err)
		}
		for _, change := range []string{
			"create index added on jobs (id)", "alter table jobs add column added text", "create table added (id text)",
			"update schema_migrations set version = version || '0'", "alter table runs disable trigger all",
		} {
			if _, err := conn.Exec(ctx, "begin; "+change); err != nil {
				return err
			}
			if err := unchanged(ctx, conn); err == nil {
				t.Errorf("%s: the database is taken as unchanged", change)
			}
			if _, err := conn.Exec(ctx, "rollback"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWholeDatabaseWithStatisticsIsNotGivenOn(t *testing.T) {
	t.Parallel()
	for statement, there := range map[string]int{"select 1": 1, "analyze owners": 0} {
		var name string
		t.Run(statement, func(t *testing.T) {
			s := Open(t, store.Config{URL: Whole(t, store.Postgres)})
			name = Get[string](t, s, "select current_database()")
			Owner(t, s, "ada")
			SQL(t, s, statement)
		})
		s := Open(t, store.Config{URL: Shared(t, store.Postgres)})
		if n := Get[int](t, s, "select count(*) from pg_database where datname = $1", name); n != there {
			t.Errorf("after %s the server has %d databases of the name, want %d", statement, n, there)
		}
	}
}

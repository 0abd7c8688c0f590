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

package dbtest

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/stint-run/stint/server/store"
)

func TestStatementsOnTheSharedDatabaseNameTheirRows(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]error{
		"select current_database()":                               nil,
		"select count(*) from jobs where owner_id = $1":           nil,
		"update tokens set hash = 'x'\nwhere owner_id = $1":       nil,
		"delete from jobs where id in ($1, $2)":                   nil,
		"insert into meta (key, value) values ($1, 'v')":          nil,
		"insert into meta (key, value) values ('k', 'v')":         errUnbound,
		"select count(*) from jobs":                               errUnbound,
		"select count(*) from runs where status = 'running'":      errUnbound,
		"update tokens set hash = 'x' || hash":                    errUnbound,
		"update tokens set hash = $1":                             errUnbound,
		"delete from jobs":                                        errUnbound,
		"truncate jobs":                                           errUnbound,
		"lock table meta in access exclusive mode":                errUnbound,
		"ALTER TABLE leases RENAME TO gone":                       errUnbound,
		"create index jobs_all on jobs (id) where state = 'done'": errUnbound,
	} {
		if got := bound(query); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
}

// Both ways beside the store are guarded, and nothing is run.
func TestGuardKeepsAStatementFromTheSharedDatabase(t *testing.T) {
	t.Parallel()
	s := Open(t, store.Config{URL: Shared(t, store.Postgres)})
	key := Owner(t, s, "ada").ID
	SQL(t, s, "insert into meta (key, value) values ($1, 'v')", key)
	query := "update meta set value = 'x' where key = '" + key + "'"
	run := func(db *sql.DB) error {
		_, err := db.ExecContext(t.Context(), query)
		return err
	}
	if err := besideURL(URLOf(t, s), run, query); !errors.Is(err, errUnbound) {
		t.Errorf("SQL: %v", err)
	}
	told := ""
	db, err := connectGuarded(URLOf(t, s), func(_ string, args ...any) { told = args[0].(string) })
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := run(db); err == nil || told != query {
		t.Errorf("DB: %v, told of %q", err, told)
	}
	if value := Get[string](t, s, "select value from meta where key = $1", key); value != "v" {
		t.Errorf("the value is %q", value)
	}
}

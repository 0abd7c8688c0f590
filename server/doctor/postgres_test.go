package doctor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/doctor"
	"github.com/stint-run/stint/server/store"
)

// short makes what is open for a moment long.
func short(warn, fail time.Duration) func(*doctor.Config) {
	return func(c *doctor.Config) { c.Limits.LongWarn, c.Limits.LongFail = warn, fail }
}

// PRF-01: a transaction elsewhere is what makes claims slow.
func TestOpenTransactionIsReported(t *testing.T) {
	t.Parallel()
	s := postgres(t)
	tx, err := dbtest.DB(t, s).BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, statement := range []string{"set transaction isolation level repeatable read", "select count(*) from jobs"} {
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	is(t, look(t, s), "long_transaction", doctor.OK, "idle in transaction")
	for id, says := range map[string]string{"long_transaction": "idle in transaction", "oldest_snapshot": "it keeps dead rows"} {
		is(t, look(t, s, short(time.Microsecond, time.Hour)), id, doctor.Warn, says)
		is(t, look(t, s, short(0, time.Microsecond)), id, doctor.Fail, says)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	is(t, look(t, s, short(time.Microsecond, time.Hour)), "oldest_snapshot", doctor.OK, "no snapshot")
}

func TestPreparedTransactionIsReported(t *testing.T) {
	t.Parallel()
	s := postgres(t)
	if dbtest.Get[string](t, s, "show max_prepared_transactions") == "0" {
		t.Fatal("the server of the tests needs max_prepared_transactions > 0, which tools/with-postgres sets")
	}
	conn, err := dbtest.DB(t, s).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	name := dbtest.Get[string](t, s, "select current_database()::text")
	for _, statement := range []string{"begin", "insert into meta values ('k', 'v')", "prepare transaction '" + name + "'"} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	defer dbtest.SQL(t, s, "rollback prepared '"+name+"'")
	is(t, look(t, s, short(time.Microsecond, time.Hour)), "prepared_transaction", doctor.Warn, name)
	is(t, look(t, s, short(0, time.Microsecond)), "prepared_transaction", doctor.Fail, "rollback prepared")
}

func TestVacuumThatLagsIsReported(t *testing.T) {
	t.Parallel()
	s := changed(t)
	dbtest.SQL(t, s, "alter table runs set (autovacuum_enabled = off)")
	is(t, look(t, s), "vacuum_runs", doctor.Fail, "reset (autovacuum_enabled)")
	is(t, look(t, s), "vacuum_jobs", doctor.OK, "last vacuum never")
	dbtest.SQL(t, s, "alter table idempotency_keys set (autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0)")
	owner := dbtest.Owner(t, s, "ada")
	db := dbtest.DB(t, s)
	// A snapshot that stays open: autovacuum may run, and removes nothing.
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, statement := range []string{"set transaction isolation level repeatable read", "select 1"} {
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	insert := fmt.Sprintf(`insert into idempotency_keys (owner_id, principal, route, key, fingerprint, status, body)
		select '%s', 'p', 'r', i::text, '', 200, '' from generate_series(1, 1500) i`, owner.ID)
	for _, statement := range []string{insert, "delete from idempotency_keys", "select pg_stat_force_next_flush()", "select 1"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	is(t, look(t, s), "vacuum_idempotency_keys", doctor.Warn, "beside 0 live ones; autovacuum starts at 200")
	is(t, look(t, s, func(c *doctor.Config) { c.Limits.DeadFail = 5 }), "vacuum_idempotency_keys", doctor.Fail, "look for long transactions")
}

func TestUnusedSlotAndLargeLogAreReported(t *testing.T) {
	t.Parallel()
	s := postgres(t)
	name := dbtest.Get[string](t, s, "select current_database()::text")
	dbtest.SQL(t, s, "select pg_create_physical_replication_slot($1, true)", name)
	t.Cleanup(func() {
		db := dbtest.DB(t, dbtest.Open(t, store.Config{URL: dbtest.URLOf(t, s)}))
		if _, err := db.Exec("select pg_drop_replication_slot($1)", name); err != nil {
			t.Error(err)
		}
	})
	is(t, look(t, s), "replication_slots", doctor.Warn, "pg_drop_replication_slot")
	is(t, look(t, s, func(c *doctor.Config) { c.Limits.RetainedFail = -1 }), "replication_slots", doctor.Fail, name)
	is(t, look(t, s, func(c *doctor.Config) { c.Limits.WALWarn = 0 }), "wal_size", doctor.Warn, "max_wal_size")
	is(t, look(t, s, func(c *doctor.Config) { c.Limits.WALFail = 0 }), "wal_size", doctor.Fail, "replication slots")
}

func TestInvalidIndexFails(t *testing.T) {
	t.Parallel()
	s := changed(t)
	dbtest.SQL(t, s, "update pg_index set indisvalid = false where indexrelid = 'jobs_by_state'::regclass")
	is(t, look(t, s), "indexes", doctor.Fail, "reindex index concurrently jobs_by_state")
}

func TestFullServerIsReported(t *testing.T) {
	t.Parallel()
	s := postgres(t)
	is(t, look(t, s, func(c *doctor.Config) { c.Limits.ConnectionsWarn = 0 }), "connections", doctor.Warn, "max_connections")
	is(t, look(t, s, func(c *doctor.Config) { c.Limits.ConnectionsFail = 0 }), "connections", doctor.Fail, "end idle sessions")
}

// A role without rights gets no error: what it may not read is unknown.
func TestMissingRightsAreUnknownAndNamed(t *testing.T) {
	t.Parallel()
	s := postgres(t)
	role := "doctor_" + dbtest.Get[string](t, s, "select right(current_database()::text, 20)")
	dbtest.SQL(t, s, "create role "+role+" login")
	t.Cleanup(func() {
		db := dbtest.DB(t, dbtest.Open(t, store.Config{URL: dbtest.URLOf(t, s)}))
		for _, statement := range []string{"drop owned by " + role, "drop role " + role} {
			if _, err := db.Exec(statement); err != nil {
				t.Error(err)
			}
		}
	})
	as := func(c *doctor.Config) { c.URL = strings.Replace(c.URL, "postgres@", role+"@", 1) }
	checks := look(t, s, as)
	is(t, checks, "schema", doctor.Unknown, "grant select on schema_migrations")
	for _, id := range []string{"wal_size", "long_transaction", "oldest_snapshot"} {
		is(t, checks, id, doctor.Unknown, "grant pg_monitor")
	}
	is(t, checks, "connections", doctor.OK, "")
	dbtest.SQL(t, s, "grant pg_monitor to "+role)
	dbtest.SQL(t, s, "grant select on schema_migrations to "+role)
	checks = look(t, s, as)
	is(t, checks, "schema", doctor.OK, "")
	is(t, checks, "long_transaction", doctor.OK, "")
}

package doctor_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/doctor"
	"github.com/stint-run/stint/server/store"
)

// look runs all checks on the database of s.
func look(t *testing.T, s *store.Store, change ...func(*doctor.Config)) map[string]doctor.Check {
	t.Helper()
	c := doctor.Config{URL: dbtest.URLOf(t, s), Source: "STINT_DB", Limits: doctor.Defaults}
	for _, fn := range change {
		fn(&c)
	}
	r, err := doctor.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]doctor.Check{}
	for _, c := range r.Checks {
		if _, twice := all[c.ID]; twice || c.Detail == "" || c.State != doctor.OK && c.Advice == "" {
			t.Errorf("twice, or without a finding or advice: %+v", c)
		}
		all[c.ID] = c
	}
	return all
}

// is fails unless a check is in a state and says something.
func is(t *testing.T, checks map[string]doctor.Check, id, state, says string) {
	t.Helper()
	c, ok := checks[id]
	if text := c.Detail + " → " + c.Advice; !ok || c.State != state || !strings.Contains(text, says) {
		t.Errorf("%s is %+v, want %s and %q", id, c, state, says)
	}
}

func lite(t *testing.T) *store.Store {
	t.Helper()
	return dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)})
}

func postgres(t *testing.T) *store.Store {
	t.Helper()
	return dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)})
}

// changed is postgres for a test that changes the schema.
func changed(t *testing.T) *store.Store {
	t.Helper()
	return dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)})
}

func TestSoundDatabasePasses(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		checks := look(t, s)
		for _, id := range []string{"schema", "clock_skew", "password"} {
			is(t, checks, id, doctor.OK, "")
		}
		rest := []string{"integrity", "foreign_keys", "journal_mode", "wal_size", "file_modes", "disk_space"}
		if s.Engine() == store.Postgres {
			rest = []string{"indexes", "version", "encryption", "connections", "autovacuum", "vacuum_jobs", "vacuum_runs",
				"vacuum_idempotency_keys", "long_transaction", "oldest_snapshot", "prepared_transaction"}
		}
		for _, id := range rest {
			is(t, checks, id, doctor.OK, "")
		}
		is(t, checks, "server", doctor.Unknown, "no server answers")
	})
}

func TestSchemaThatDiffersFails(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ statement, says string }{
		"pending":      {"delete from schema_migrations where version = (select max(version) from schema_migrations)", "run stint migrate up"},
		"out of order": {"delete from schema_migrations where version = '0001'", "out_of_order"},
		"edited":       {"update schema_migrations set checksum = 'x' where version = '0001'", "edited: [0001]"},
		"unknown":      {"insert into schema_migrations (version) values ('9999')", "unknown: [9999]"},
	}
	dbtest.EachFresh(t, func(t *testing.T, s *store.Store) {
		dbtest.SQL(t, s, "create table applied as select * from schema_migrations")
		for _, tt := range cases {
			dbtest.SQL(t, s, tt.statement)
			is(t, look(t, s), "schema", doctor.Fail, tt.says)
			dbtest.SQL(t, s, "delete from schema_migrations")
			dbtest.SQL(t, s, "insert into schema_migrations select * from applied")
			is(t, look(t, s), "schema", doctor.OK, "")
		}
	})
}

// setenv is no option in a parallel test: the skew is of the whole process.
func TestSkewedClockIsSeen(t *testing.T) {
	dbs := map[string]*store.Store{"sqlite": lite(t), "postgres": postgres(t)}
	owner := dbtest.Owner(t, dbs["sqlite"], "ada")
	dbtest.SQL(t, dbs["sqlite"], `insert into jobs (id, owner_id, kind, state, payload, priority, run_at, attempt, max_attempts, created_at, updated_at)
		values ('job_1', $1, 'sync', 'pending', '{}', 3, $2, 0, 5, $2, $2)`, owner.ID, time.Now().UnixMicro())
	for skew, state := range map[string]string{"-30s": doctor.Warn, "-5m": doctor.Fail, "0s": doctor.OK} {
		t.Setenv("STINT_TEST_CLOCK_SKEW", skew)
		dbtest.SQL(t, dbs["sqlite"], "update jobs set created_at = $1", time.Now().UnixMicro())
		for _, s := range dbs {
			is(t, look(t, s), "clock_skew", state, "")
		}
	}
	t.Setenv("STINT_TEST_CLOCK_SKEW", "5m") // ahead: SQLite has nothing to compare with
	is(t, look(t, dbs["postgres"]), "clock_skew", doctor.Fail, "time service")
}

func TestPasswordIsReportedAndNotShown(t *testing.T) {
	t.Parallel()
	s := postgres(t)
	with := func(c *doctor.Config) { c.URL = strings.Replace(c.URL, "postgres@", "postgres:s3cret@", 1) }
	checks := look(t, s, with)
	is(t, checks, "password", doctor.Warn, "STINT_DB holds a password")
	for id, c := range checks {
		if strings.Contains(c.Detail+c.Advice, "s3cret") {
			t.Errorf("%s shows the password: %+v", id, c)
		}
	}
	is(t, look(t, s, func(c *doctor.Config) { c.EnvPassword = true }), "password", doctor.Warn, "environment")
}

func TestServerIsJudgedByItsAnswer(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		answer := doctor.Server{URL: "http://h", Answered: true, Ready: true}
		answer.Replica.Engine, answer.Replica.Pool.Max = s.Engine(), 16
		ask := func() map[string]doctor.Check {
			return look(t, s, func(c *doctor.Config) { c.Server = answer })
		}
		is(t, ask(), "server", doctor.OK, "ready")
		is(t, ask(), "loops", doctor.OK, "")
		answer.Replica.Pool.Max = 100_000
		if s.Engine() == store.Postgres {
			is(t, ask(), "pool", doctor.Fail, "pg-max-conns")
		}
		answer.Replica.Loops = append(answer.Replica.Loops, struct {
			Name     string `json:"name"`
			OK       bool   `json:"ok"`
			Failures int64  `json:"failures"`
		}{"reaper", false, 3})
		away := doctor.Server{URL: "http://h", Detail: "connection refused"}
		is(t, look(t, s, func(c *doctor.Config) { c.Server = away }), "server", doctor.Unknown, "no server answers")
		away.Named = true
		is(t, look(t, s, func(c *doctor.Config) { c.Server = away }), "server", doctor.Fail, "http://h: connection refused")
		answer.Ready, answer.Detail = false, "draining"
		is(t, ask(), "server", doctor.Fail, "draining")
		is(t, ask(), "loops", doctor.Warn, "reaper (3 in a row)")
		away.Other = true
		is(t, look(t, s, func(c *doctor.Config) { c.Server = away }), "server", doctor.Fail, "what answers at http://h is not a Stint server")
		starting := doctor.Server{URL: "http://h", Answered: true, Detail: "starting"}
		is(t, look(t, s, func(c *doctor.Config) { c.Server = starting }), "loops", doctor.Unknown, "not measured")
		answer.Replica.Engine = "other"
		is(t, ask(), "server", doctor.Unknown, "another database")
	})
}

func TestDamagedFileFails(t *testing.T) {
	t.Parallel()
	s := lite(t)
	path := strings.TrimPrefix(dbtest.URLOf(t, s), "sqlite:")
	s.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(text) / 2; i < len(text)/2+3*4096; i++ {
		text[i] ^= 0x5a
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	is(t, look(t, s), "integrity", doctor.Fail, "restore a backup")
}

func TestOrphanedRowsFail(t *testing.T) {
	t.Parallel()
	s := lite(t)
	db := dbtest.DB(t, s)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{"pragma foreign_keys = 0",
		"insert into tokens (id, owner_id, name, hash, scopes, created_at) values ('t', 'nobody', '', 'h', '[]', 0)"} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	is(t, look(t, s), "foreign_keys", doctor.Fail, "tokens")
}

func TestFilesThatOthersReachAreReported(t *testing.T) {
	t.Parallel()
	s := lite(t)
	path := strings.TrimPrefix(dbtest.URLOf(t, s), "sqlite:")
	for _, tt := range []struct {
		mode  os.FileMode
		state string
	}{{0o644, doctor.Warn}, {0o666, doctor.Fail}, {0o600, doctor.OK}} {
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		is(t, look(t, s), "file_modes", tt.state, "")
	}
	if err := os.Chmod(path[:strings.LastIndexByte(path, '/')], 0o777); err != nil {
		t.Fatal(err)
	}
	is(t, look(t, s), "file_modes", doctor.Fail, "is 0777")
}

func TestFullDiskAndGrownLogAreReported(t *testing.T) {
	t.Parallel()
	s := lite(t)
	free := int64(look(t, s)["disk_space"].Value.(int64))
	is(t, look(t, s, func(c *doctor.Config) { c.Limits.FreeWarn = 2 * free }), "disk_space", doctor.Warn, "make room")
	is(t, look(t, s, func(c *doctor.Config) { c.Limits.FreeFail = 2 * free }), "disk_space", doctor.Fail, "make room")
	rows, err := dbtest.DB(t, s).QueryContext(t.Context(), "select name from sqlite_schema")
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	defer rows.Close() // a reader that never ends
	for i := range 6 {
		err := s.Tx(t.Context(), func(q model.Querier) error {
			_, err := q.MetaInsert(t.Context(), model.MetaInsertParams{Key: string(rune('a' + i)), Value: strings.Repeat("x", 1<<20)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	is(t, look(t, s, func(c *doctor.Config) { c.Limits.LogWarn = 5 << 20 }), "wal_size", doctor.Warn, "end what has read")
	is(t, look(t, s, func(c *doctor.Config) { c.Limits.LogFail = 5 << 20 }), "wal_size", doctor.Fail, "end what has read")
}

func TestDatabaseThatIsAwayIsAnError(t *testing.T) {
	t.Parallel()
	_, err := doctor.Run(t.Context(), doctor.Config{URL: "postgres://u:s3cret@127.0.0.1:1/db", Limits: doctor.Defaults})
	if !store.Away(err) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%v", err)
	}
	_, err = doctor.Run(t.Context(), doctor.Config{URL: "sqlite:" + t.TempDir() + "/none.db", Limits: doctor.Defaults})
	if err == nil || store.Away(err) || !strings.Contains(err.Error(), "there is no database") {
		t.Errorf("%v", err)
	}
	_, err = doctor.Run(t.Context(), doctor.Config{URL: "sqlite:" + t.TempDir(), Limits: doctor.Defaults})
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/doctor"
	"github.com/stint-run/stint/server/store"
)

// checksOf are the ids that stay; people watch them.
var checksOf = map[string][]string{
	store.SQLite: {"integrity", "schema", "foreign_keys", "clock_skew", "journal_mode", "wal_size", "file_modes", "disk_space",
		"password", "server", "loops"},
	store.Postgres: {"schema", "indexes", "clock_skew", "version", "encoding", "encryption", "durability", "connections", "pool", "autovacuum",
		"vacuum_jobs", "vacuum_runs", "vacuum_idempotency_keys", "long_transaction", "oldest_snapshot", "prepared_transaction",
		"replication_slots", "wal_size", "password", "server", "loops"},
}

// The server of the tests has fsync off: on PostgreSQL that is what fails.
func TestDoctorLooksAtDatabaseAndServer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		out, stderr, code := command(t, s.env(), "doctor", "-o", "json")
		want := 0
		if strings.Contains(stderr, "failed: durability") {
			want = 1
		}
		if code != want || s.engine() == store.SQLite && code != 0 {
			t.Errorf("exit %d %q", code, stderr)
		}
		var raw struct{ Checks []map[string]json.RawMessage }
		var r doctor.Report
		if json.Unmarshal([]byte(out), &r) != nil || json.Unmarshal([]byte(out), &raw) != nil {
			t.Fatalf("%s", out)
		}
		var ids []string
		for i, c := range r.Checks {
			ids = append(ids, c.ID)
			for _, member := range []string{"id", "state", "value", "unit", "detail", "advice"} {
				if _, ok := raw.Checks[i][member]; !ok || len(raw.Checks[i]) != 6 {
					t.Errorf("%s: %s", c.ID, raw.Checks[i])
				}
			}
			if slices.Contains([]string{"server", "loops", "pool", "schema"}, c.ID) && c.State != doctor.OK {
				t.Errorf("%+v", c)
			}
		}
		if r.Engine != s.engine() || r.Database != store.Redact(s.db) || !slices.Equal(ids, checksOf[s.engine()]) {
			t.Errorf("%s %s %q", r.Engine, r.Database, ids)
		}
	})
}

func TestDoctorEndsByItsWorstCheck(t *testing.T) {
	t.Parallel()
	s := newScene(t, store.SQLite)
	path := strings.TrimPrefix(s.db, "sqlite:")
	ready := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"status":"ready","replica":{"engine":"sqlite"}}`)
	}))
	defer ready.Close()
	env := func(server string) []string { return []string{"STINT_DB=" + s.db, "STINT_SERVER=" + server} }
	for _, tt := range []struct {
		mode  os.FileMode
		state string
		code  int
	}{{0o600, "ok", 0}, {0o644, "warn", 0}, {0o666, "fail", 1}} {
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		out, stderr, code := command(t, env(ready.URL), "doctor", "-o", "table")
		if code != tt.code || !strings.Contains(out, tt.state+strings.Repeat(" ", 7-len(tt.state))+"file_modes") || (code == 1) != (stderr == "stint: failed: file_modes\n") {
			t.Errorf("%v: exit %d %q %q", tt.mode, code, out, stderr)
		}
	}
	out, stderr, code := command(t, env("http://127.0.0.1:1"), "doctor", "-o", "jsonl")
	if n := strings.Count(out, "\n"); n != len(checksOf[store.SQLite])-1 { // no loops
		t.Errorf("%d lines: %s", n, out)
	}
	if code != 1 || stderr != "stint: failed: file_modes, server\n" {
		t.Errorf("exit %d %q", code, stderr)
	}
}

func TestDoctorWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	_, stderr, code := command(t, []string{"STINT_DB=postgres://u:s3cret@127.0.0.1:1/db"}, "doctor")
	if code != 75 || !strings.Contains(stderr, "the database cannot be reached") || strings.Contains(stderr, "s3cret") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d %q", code, stderr)
	}
	_, stderr, code = command(t, []string{"STINT_DB=sqlite:none.db"}, "doctor")
	if code != 1 || !strings.Contains(stderr, "there is no database") {
		t.Errorf("exit %d %q", code, stderr)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/dbtest"
)

// migrate runs "stint migrate args…" and returns what it printed.
func migrate(t *testing.T, g globals, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, log bytes.Buffer
	cmd := migrateCmd(&g)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&log)
	err = cmd.ExecuteContext(t.Context())
	return out.String(), log.String(), err
}

func newFile(t *testing.T) globals {
	return globals{DB: "sqlite:" + filepath.Join(t.TempDir(), "stint.db"), Output: "table"}
}

func TestMigrateUpTwiceSaysThatNothingIsLeft(t *testing.T) {
	t.Parallel()
	g := newFile(t)
	if _, _, err := migrate(t, g, "verify"); schema.Code(err) != schema.CodePending {
		t.Errorf("verify of a new file: %v", err)
	}
	out, log, err := migrate(t, g, "up")
	if err != nil || !strings.Contains(out, "applied") || !strings.Contains(log, "0001_") {
		t.Fatalf("first: %q %q %v", out, log, err)
	}
	out, _, err = migrate(t, g, "up")
	if err != nil || !strings.Contains(out, "nothing to do") {
		t.Errorf("second: %q %v", out, err)
	}
	if out, _, err := migrate(t, g, "verify"); err != nil || !strings.Contains(out, "up to date") {
		t.Errorf("verify: %q %v", out, err)
	}
}

func TestMigrateStatusIsATableOrJSON(t *testing.T) {
	t.Parallel()
	g := newFile(t)
	if out, _, err := migrate(t, g, "status"); err != nil || !strings.Contains(out, "pending") {
		t.Errorf("table: %q %v", out, err)
	}
	g.Output = "json"
	out, _, err := migrate(t, g, "status")
	var got struct{ Data []schema.Version }
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || len(got.Data) != len(schema.Expected(schema.SQLite)) {
		t.Errorf("json: %q %v", out, err)
	}
	g.Output = "jsonl"
	out, _, err = migrate(t, g, "status")
	if err != nil || strings.Count(out, "\n") != len(got.Data) {
		t.Errorf("jsonl: %q %v", out, err)
	}
}

// TestMigrateStatusNamesAnInvalidIndex, as verify, up and doctor do.
func TestMigrateStatusNamesAnInvalidIndex(t *testing.T) {
	t.Parallel()
	g := globals{DB: dbtest.Fresh(t, schema.Postgres)}
	dbtest.Plant(t, g.DB, "update pg_index set indisvalid = false where indexrelid = 'jobs_by_state'::regclass")
	want := schema.Version{Name: "jobs_by_state", State: "invalid_index"}
	for _, g.Output = range []string{"table", "json", "jsonl"} {
		out, log, err := migrate(t, g, "status")
		if err != nil || !strings.Contains(log, "run `reindex index concurrently jobs_by_state`") {
			t.Errorf("%s: %q %v", g.Output, log, err)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		last := schema.Version{}
		switch g.Output {
		case "table":
			if fields := strings.Fields(lines[len(lines)-1]); len(fields) == 2 {
				last = schema.Version{State: fields[0], Name: fields[1]}
			}
		case "json":
			var all struct{ Data []schema.Version }
			if err := json.Unmarshal([]byte(out), &all); err != nil {
				t.Fatal(err)
			}
			last = all.Data[len(all.Data)-1]
		case "jsonl":
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
				t.Fatal(err)
			}
		}
		if last != want {
			t.Errorf("%s ends with %+v: %s", g.Output, last, out)
		}
	}
}

func TestMigratePlanPrintsTheSQLAndRunsNone(t *testing.T) {
	t.Parallel()
	g := newFile(t)
	out, _, err := migrate(t, g, "plan")
	if err != nil || !strings.Contains(out, "create table") || !strings.Contains(out, "0001_") {
		t.Errorf("%q %v", out, err)
	}
	if _, err := os.Stat(strings.TrimPrefix(g.DB, "sqlite:")); !os.IsNotExist(err) {
		t.Errorf("the plan made the file: %v", err)
	}
}

func TestMigrateNewWritesBothTwins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, engine := range []string{"postgres", "sqlite"} {
		if err := os.Mkdir(filepath.Join(dir, engine), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, _, err := migrate(t, globals{}, "new", "--dir", dir, "add_notes")
	if err != nil || strings.Count(out, "0001_add_notes.sql\n") != 2 {
		t.Errorf("%q %v", out, err)
	}
}

func TestMigrateNeverPrintsAPassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://u:s3cret%40%3A%2F%25@127.0.0.1:1/db",
		"postgres://u:s3cret@:/%@127.0.0.1:1/db",
		"postgres://127.0.0.1:1/db?user=u&password=s3cret",
	} {
		for _, sub := range []string{"up", "status", "plan", "verify"} {
			out, log, err := migrate(t, globals{DB: url, Output: "table"}, sub)
			if err == nil || strings.Contains(out+log+err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q %q %v", sub, out, log, err)
			}
		}
	}
}

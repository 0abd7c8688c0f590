package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/store/backup"
)

// command runs stint with an environment of its own and is what it said.
func command(t *testing.T, env []string, args ...string) (out, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("stint", args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}, env...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// must runs stint on a database and expects it to succeed.
func must(t *testing.T, db string, args ...string) string {
	t.Helper()
	out, stderr, code := command(t, []string{"STINT_DB=" + db}, args...)
	if code != 0 {
		t.Fatalf("stint %v: exit %d: %s", args, code, stderr)
	}
	return out
}

// TestBackupUnderLoadIsOneInstant: every batch of the load is in it as a whole
// or not at all, a claimed job has its open run, and what was restored serves.
func TestBackupUnderLoadIsOneInstant(t *testing.T) {
	t.Parallel()
	eachOwn(t, func(t *testing.T, s *replica, _ func()) {
		const size = 25
		ended := make(chan struct{})
		var load sync.WaitGroup
		for client := range 3 {
			load.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-ended:
						return
					default:
						enqueueBatch(s, fmt.Sprintf("%d-%d", client, i), size)
						claimSome(s)
					}
				}
			})
		}
		apitest.Await(t, "a load", func() bool { return len(s.runs("")) > 20 })
		file := filepath.Join(t.TempDir(), "stint.backup")
		must(t, s.db, "backup", "create", file)
		close(ended)
		load.Wait()
		restored := newServing(t, dbtest.Empty(t, s.engine()), s.Token)
		must(t, restored.db, "backup", "restore", file)
		oneInstant(t, restored.db, size)
		restored.start()
		id := restored.enqueue(`"priority":1`)
		restored.work("true", "--max-jobs", "1")
		restored.awaitState(id, "succeeded")
	})
}

func (s *replica) engine() string {
	engine, err := store.EngineOf(s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	return engine
}

// send posts a body and fails the test unless it is accepted.
func (s *replica) send(path string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Error(err)
		return
	}
	if a := s.Post(path, string(text)); a.Status >= 300 {
		s.t.Errorf("POST %s: %s", path, a)
	}
}

func enqueueBatch(s *replica, name string, size int) {
	items := make([]map[string]any, size)
	for i := range items {
		items[i] = map[string]any{"kind": "load", "key": fmt.Sprintf("%s-%d", name, i), "payload": map[string]string{"batch": name}}
	}
	s.send("/v1/jobs/batch", map[string]any{"items": items})
}

func claimSome(s *replica) {
	s.send("/v1/jobs/claim", map[string]any{"worker": "w", "kinds": []string{"load"}, "limit": 5})
}

// oneInstant looks at the rows of a restored database.
func oneInstant(t *testing.T, url string, size int) {
	t.Helper()
	s := dbtest.Open(t, store.Config{URL: url})
	for what, query := range map[string]string{
		"batches that are there in part": `select count(*) from (select count(*) as n from jobs where kind = 'load' group by cast(payload as text)) b where n <> ` + fmt.Sprint(size),
		"claimed jobs without a run":     `select count(*) from jobs j where state = 'claimed' and not exists (select 1 from runs r where r.job_id = j.id and r.status = 'running')`,
		"open runs without their job":    `select count(*) from runs r where status = 'running' and not exists (select 1 from jobs j where j.id = r.job_id and j.state = 'claimed')`,
	} {
		if n := dbtest.Get[int](t, s, query); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
	if n := dbtest.Get[int](t, s, "select count(*) from runs where status = 'running'"); n == 0 {
		t.Error("the backup holds no run: the test shows nothing")
	}
}

// TestRestoredDatabaseHasEveryRow compares all tables.
func TestRestoredDatabaseHasEveryRow(t *testing.T) {
	t.Parallel()
	eachOwn(t, func(t *testing.T, s *replica, stop func()) {
		enqueueBatch(s, `a "b" \ ü`, 40)
		claimSome(s)
		stop()
		file, to := filepath.Join(t.TempDir(), "b"), dbtest.Empty(t, s.engine())
		var r backup.Report
		if err := json.Unmarshal([]byte(must(t, s.db, "backup", "create", file, "-o", "json")), &r); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != r.Bytes {
			t.Errorf("the file: %v %v, reported %+v", info.Mode(), err, r)
		}
		known := schema.Expected(s.engine())
		if r.Engine != s.engine() || r.Schema != known[len(known)-1] || len(r.Pending) != 0 || r.File != file {
			t.Errorf("%+v", r)
		}
		must(t, to, "backup", "restore", file)
		before, after := everyRow(t, s.db), everyRow(t, to)
		for table, rows := range before {
			if !slices.Equal(rows, after[table]) {
				t.Errorf("%s differs: %d rows, %d after", table, len(rows), len(after[table]))
			}
		}
		if len(before["jobs"]) != 40 || len(after) != len(before) {
			t.Errorf("%d jobs, %d tables, %d after", len(before["jobs"]), len(before), len(after))
		}
	})
}

// everyRow is all rows of all tables as text.
func everyRow(t *testing.T, url string) map[string][]string {
	t.Helper()
	s := dbtest.Open(t, store.Config{URL: url})
	list := "select name from sqlite_schema where type = 'table'"
	if s.Engine() == store.Postgres {
		list = "select relname from pg_class where relnamespace = to_regnamespace('public') and relkind = 'r'"
	}
	all := map[string][]string{}
	for _, table := range texts(t, s, list) {
		all[table[0]] = nil
		for _, row := range texts(t, s, "select * from "+table[0]) {
			all[table[0]] = append(all[table[0]], strings.Join(row, "|"))
		}
		slices.Sort(all[table[0]])
	}
	return all
}

// texts is the rows of a query, each value as text.
func texts(t *testing.T, s *store.Store, query string) (all [][]string) {
	t.Helper()
	rows, err := dbtest.DB(t, s).Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		row, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			targets[i] = &row[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		line := make([]string, len(row))
		for i, v := range row {
			line[i] = fmt.Sprintf("%v", v)
			if b, ok := v.([]byte); ok {
				line[i] = string(b)
			}
		}
		all = append(all, line)
	}
	return all
}

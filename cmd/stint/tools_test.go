package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// A member of type any would go through float64 and lose digits.
func TestTheClientKeepsJSONAsItIs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../gen/client/client.gen.go")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, "interface{} `json:") {
			t.Errorf("client.gen.go:%d: %s: name the member in tools/oapi/overlay.yaml", i+1, strings.TrimSpace(line))
		}
	}
}

func TestBenchLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			dir, url := t.TempDir(), dbtest.Whole(t, engine)
			cmd := exec.Command("stint", "bench", "--jobs", "30", "--time", "2s", "--clients", "2", "--batch", "10", "-o", "json")
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
			if engine == store.Postgres {
				cmd.Env = append(cmd.Env, "STINT_DB="+url)
			}
			out, err := cmd.Output()
			var report benchReport
			if err != nil || json.Unmarshal(out, &report) != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if report.Engine != engine || len(report.Results) != 4 || len(report.Durability) == 0 {
				t.Errorf("the report: %s", out)
			}
			for _, r := range report.Results {
				if len(r.Runs) != 3 || r.Median <= 0 || r.P99 < r.P50 {
					t.Errorf("%s: %+v", r.Work, r)
				}
			}
			if left, _ := filepath.Glob(dir + "/*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if engine == store.Postgres {
				s := dbtest.Open(t, store.Config{URL: url})
				if n := dbtest.Get[int64](t, s, "select count(*) from pg_database where datname like 'stint_bench_%'"); n > 0 {
					t.Errorf("%d databases left behind", n)
				}
			}
		})
	}
}

func TestDevHasDemoDataAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + tmp}
	p := spawn(t, env, "stint", "dev", "--addr", "127.0.0.1:0")
	apitest.Await(t, "demo", func() bool { return p.out.Has("Ctrl-C ends it") })
	fields := strings.Fields(p.out.String())
	list := exec.Command("stint", "job", "list", "-o", "jsonl", "--server", fields[1], "--token-file", fields[7])
	list.Env = env
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %q: %s", err, fields, out)
	}
	for _, state := range []string{"pending", "claimed", "succeeded", "failed"} {
		if !strings.Contains(string(out), `"state":"`+state+`"`) {
			t.Errorf("no demo job is %s", state)
		}
	}
	p.term(t)
	if code := p.exit(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	if left, _ := filepath.Glob(tmp + "/*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWorkEndsWhenThereIsNothingToDo(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		for range 3 {
			s.enqueue()
		}
		w := s.work("true", "--concurrency", "2", "--exit-when-idle", "1s")
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		if runs := s.runs("status=succeeded"); len(runs) != 3 {
			t.Errorf("%d jobs are done, want 3", len(runs))
		}
	})
}

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// A result that cannot be read or stored is null, and never one of before; the
// work is done all the same, once.
func TestACommandIsNotRunAgainForItsResult(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"NUL":             `printf '{"log":"a\\u0000b"}\n'`,
		"repeated member": `echo '{"a":1,"a":2}'`,
		"lone surrogate":  `printf '{"a":"\\ud800"}\n'`,
		"not UTF-8":       `printf '{"a":"\377"}\n'`,
		"too deep":        `printf '%070d' 0 | tr 0 '['; printf '%070d\n' 0 | tr 0 ']'`,
		"too large":       `printf '"'; head -c 300000 /dev/zero | tr '\0' x; echo '"'`,
		"NUL in its file": `printf '{"log":"a\\u0000b"}' >"$STINT_RESULT"; echo 1`,
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, s *replica) {
				runs := filepath.Join(t.TempDir(), "runs")
				id := s.enqueue(`"max_attempts":3`)
				w := s.work(fmt.Sprintf("echo x >>%s; echo '{\"progress\":1}'; %s", runs, script), "--max-jobs", "1")
				if code := w.exit(t); code != 0 {
					t.Errorf("exit %d", code)
				}
				if job := s.job(id); job.State != "succeeded" || string(job.Result) != "null" {
					t.Errorf("the job is %s with %.40s", job.State, job.Result)
				}
				if run := s.runs("")[0]; run.Warning == nil || *run.Warning == "" {
					t.Errorf("the run has no warning")
				}
				if text, _ := os.ReadFile(runs); string(text) != "x\n" {
					t.Errorf("the command was run for %q", text)
				}
			})
		})
	}
}

func TestTheResultIsTheJSONTextThatEndsTheOutput(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script, result string
		warned         bool
	}{
		"over several lines":        {`printf '{"progress":50}\n[\n  10,\n  20,\n  30\n]\n'`, `[10,20,30]`, false},
		"no member of it":           {`printf '{\n"a":\n{"b":1}\n}\n'`, `{"a":{"b":1}}`, false},
		"with other text behind it": {`printf '{\n"a": 1\n}\ndone\n'`, `{"a":1}`, true},
		"after other text":          {`printf 'working\n{"a":1}\n\n'`, `{"a":1}`, false},
		"the file outranks it":      {`echo '{"b":2}' >"$STINT_RESULT"; echo '{"a":1}'`, `{"b":2}`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, s *replica) {
				id := s.enqueue(`"max_attempts":1`)
				if code := s.work(tt.script, "--max-jobs", "1").exit(t); code != 0 {
					t.Errorf("exit %d", code)
				}
				job, run := s.job(id), s.runs("")[0]
				if blank := strings.NewReplacer(" ", "", "\n", ""); job.State != "succeeded" || blank.Replace(string(job.Result)) != tt.result {
					t.Errorf("the job is %s with %s", job.State, job.Result)
				}
				if warned := run.Warning != nil; warned != tt.warned {
					t.Errorf("a warning: %t", warned)
				}
			})
		})
	}
}

// A command says more than that it failed: by a file, or by its exit code.
func TestWorkObeysWhatTheCommandSaysOfItsEnd(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script         string
		flags          []string
		state, code    string
		attempt, later int // of the job; minutes until it may be claimed
	}{
		"final by file":         {`echo '{"outcome":"final","code":"no_money","message":"m"}' >$STINT_OUTCOME`, nil, "failed", "no_money", 1, 0},
		"fail by file":          {`echo '{"outcome":"fail","seconds":1200}' >$STINT_OUTCOME; exit 3`, nil, "pending", "exit_3", 1, 20},
		"snooze by file":        {`echo '{"outcome":"snooze","seconds":600}' >$STINT_OUTCOME; exit 1`, nil, "pending", "", 0, 10},
		"complete by file":      {`echo '{"outcome":"complete"}' >$STINT_OUTCOME; echo 7; exit 1`, nil, "succeeded", "", 1, 0},
		"release by file":       {`echo '{"outcome":"release"}' >$STINT_OUTCOME`, nil, "pending", "", 0, 0},
		"nonsense in the file":  {`echo '{"outcome":"maybe"}' >$STINT_OUTCOME; exit 65`, []string{"--final-exit", "65"}, "failed", "exit_65", 1, 0},
		"final by exit code":    {`exit 65`, []string{"--final-exit", "64,65"}, "failed", "exit_65", 1, 0},
		"snooze by exit code":   {`exit 75`, []string{"--snooze-exit", "75=15m", "--final-exit", "65"}, "pending", "", 0, 15},
		"another exit code":     {`exit 76`, []string{"--snooze-exit", "75=15m"}, "pending", "exit_76", 1, 0},
		"the file outranks it":  {`echo '{"outcome":"complete"}' >$STINT_OUTCOME; exit 65`, []string{"--final-exit", "65"}, "succeeded", "", 1, 0},
		"exit 0 needs no words": {`true`, []string{"--final-exit", "65"}, "succeeded", "", 1, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, s *replica) {
				id := s.enqueue(`"max_attempts":5`)
				if code := s.work(tt.script, append(tt.flags, "--max-jobs", "1")...).exit(t); code != 0 {
					t.Errorf("exit %d", code)
				}
				job := s.job(id)
				if job.State != tt.state || job.Attempt != tt.attempt {
					t.Errorf("the job is %s at attempt %d", job.State, job.Attempt)
				}
				if later := job.RunAt.Sub(job.CreatedAt).Round(time.Minute); later != time.Duration(tt.later)*time.Minute {
					t.Errorf("it may be claimed after %s", later)
				}
				if tt.code != "" {
					checkError(t, job.Error, tt.code, "", "")
				}
			})
		})
	}
}

func TestWorkRefusesFlagsThatContradictEachOther(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{
		{"--final-exit", "0"}, {"--snooze-exit", "0=1m"}, {"--final-exit", "65", "--snooze-exit", "65=1m"}, {"--snooze-exit", "75"},
		{"--timeout", "500ms"}, {"--timeout", "1500ms"}, {"--timeout", "169h"}, {"--timeout", "-1s"},
		{"--log-bytes", "-1"}, {"--log-bytes", "65537"},
	} {
		args := append([]string{"work", "--kinds", "audit"}, append(flags, "--", "true")...)
		w := spawn(t, []string{"PATH=" + os.Getenv("PATH"), "STINT_TOKEN=x"}, "stint", args...)
		if code := w.exit(t); code != exitUsage || !w.out.Has(flags[0]) {
			t.Errorf("%v: exit %d, want %d", flags, code, exitUsage)
		}
	}
}

// Heartbeats come every third of the lease.
func TestWorkTellsTheProgressOfACommand(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		file := filepath.Join(t.TempDir(), "go")
		w := s.work(`echo '{"pages":12345678901234567890}' >$STINT_PROGRESS; until [ -e `+file+` ]; do sleep 0.05; done`, "--max-jobs", "1", "--lease", "10s")
		apitest.Await(t, "progress", func() bool { return string(s.job(id).Progress) == `{"pages":12345678901234567890}` })
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
	})
}

func TestTheLogOfARunIsWhatItsCommandPrinted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		s.enqueue(`"max_attempts":1`)
		w := s.work(`echo out; sleep 0.1; echo err >&2; exit 1`, "--max-jobs", "1")
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		var log struct{ Text string }
		s.get("/v1/runs/"+s.runs("")[0].ID+"/log", &log)
		if log.Text != "out\nerr\n" {
			t.Errorf("the log is %q", log.Text)
		}
	})
}

// The smallest limit counts, and the attempt is over at it whatever the command does.
func TestWorkEndsWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind, job string
		flags     []string
	}{
		"by the worker": {"null", "null", []string{"--timeout", "1s"}},
		"by the kind":   {"1", "600", []string{"--timeout", "1h"}},
		"by the job":    {"600", "1", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, s *replica) {
				s.limitKind(tt.kind)
				id := s.enqueue(`"max_attempts":1`, `"timeout_seconds":`+tt.job)
				w := s.work(napper, append(tt.flags, "--max-jobs", "1")...)
				all := pids(t, w)
				if code := w.exit(t); code != 0 {
					t.Errorf("exit %d", code)
				}
				awaitGone(t, all)
				job := s.job(id)
				if job.State != "failed" {
					t.Fatalf("the job is %s", job.State)
				}
				checkError(t, job.Error, "timeout", "pids ", "")
				if run := s.runs("")[0]; run.CompletedAt.Sub(run.StartedAt) < time.Second-50*time.Millisecond {
					t.Errorf("the run took %s", run.CompletedAt.Sub(run.StartedAt))
				}
			})
		})
	}
}

// limitKind sets the time limit of the kind audit, in seconds or null.
func (s *replica) limitKind(seconds string) {
	s.t.Helper()
	if a := s.Call(http.MethodPut, "/v1/kinds/audit", `{"lease_seconds":60,"max_attempts":5,
		"backoff_base_seconds":5,"backoff_cap_seconds":3600,"timeout_seconds":`+seconds+`}`); a.Status != http.StatusCreated {
		s.t.Fatalf("PUT kind: %s", a)
	}
}

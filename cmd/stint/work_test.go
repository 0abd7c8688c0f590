package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
)

func TestWorkReportsHowTheCommandEnded(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script         string
		payload        string
		state          string
		result, code   string
		message, lacks string
		log            string
	}{
		"the JSON text that ends the output is the result": {
			script: `echo '{"a":1}'; echo '{"n":12345678901234567890}'`, state: "succeeded", result: `{"n":12345678901234567890}`},
		"a last line without a line end counts": {
			script: `printf '{"a":1}'`, state: "succeeded", result: `{"a":1}`},
		"no JSON is null": {
			script: `echo done`, state: "succeeded", result: `null`,
			log: "the result is null"},
		"a command need not read its input": {
			script: `exec 0<&-; echo 1`, payload: `"` + strings.Repeat("x", 200<<10) + `"`, state: "succeeded", result: `1`},
		"the job is one line with an end": {
			script: `read -r line && echo "$line" | grep -c '"payload":{"deep":\[1,2\]}'`, payload: `{"deep":[1,2]}`, state: "succeeded", result: `1`},
		"an exit code fails the attempt": {
			script: `echo gone wrong >&2; exit 3`, state: "failed", code: "exit_3", message: "gone wrong"},
		"a signal fails the attempt": {
			script: `kill -9 $$`, state: "failed", code: "signal_kill", message: "signal: killed"},
		"the message is the end of standard error": {
			script: `printf first >&2; head -c 9000 /dev/zero | tr '\0' y >&2; printf 'l\303\244st' >&2; exit 1`,
			state:  "failed", code: "exit_1", message: "läst", lacks: "first"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, s *replica) {
				id := s.enqueue(`"max_attempts":1`, `"payload":`+cmp.Or(tt.payload, "{}"))
				w := s.work(tt.script, "--max-jobs", "1")
				if code := w.exit(t); code != 0 {
					t.Fatalf("exit %d", code)
				}
				if !strings.Contains(w.out.String(), tt.log) {
					t.Errorf("the log lacks %s", tt.log)
				}
				job := s.job(id)
				if job.State != tt.state || tt.result != "" && string(job.Result) != tt.result {
					t.Fatalf("state %s, result %s, error %s", job.State, job.Result, job.Error)
				}
				if tt.code != "" {
					checkError(t, job.Error, tt.code, tt.message, tt.lacks)
				}
			})
		})
	}
}

func checkError(t *testing.T, raw json.RawMessage, code, message, lacks string) {
	t.Helper()
	var got struct{ Code, Message string }
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Code != code || !strings.Contains(got.Message, message) || len(got.Message) > 4<<10 {
		t.Errorf("got %q, a message of %d bytes that ends in %.40q", got.Code, len(got.Message), got.Message[max(0, len(got.Message)-40):])
	}
	if lacks != "" && strings.Contains(got.Message, lacks) {
		t.Errorf("the message still has its beginning")
	}
}

func TestWorkTellsTheCommandItsJobAndNoSecret(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue(`"key":"a-key"`)
		env := append(s.env(), "STINT_KEY=another", "PGHOST=db.example")
		for _, name := range []string{"STINT_LEASE_TOKEN", "DATABASE_URL", "STINT_TLS_KEY",
			"PGPASSWORD", "PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY", "PGSSLPASSWORD"} {
			env = append(env, name+"=hunter2")
		}
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(s.Token), 0o600); err != nil {
			t.Fatal(err)
		}
		env = append(env, "STINT_TOKEN_FILE="+file)
		w := spawn(t, env, "stint", "work", "--kinds", "audit", "--max-jobs", "1", "--worker", "me", "--server", s.Base()+"/",
			"--", "sh", "-c", "cat; env")
		if code := w.exit(t); code != 0 {
			t.Fatalf("exit %d", code)
		}
		run := s.runs("")[0]
		out := w.out.String()
		for _, want := range []string{"STINT_JOB_ID=" + id, "STINT_RUN_ID=" + run.ID, "STINT_KIND=audit", "STINT_KEY=a-key",
			"STINT_ATTEMPT=1", "STINT_WORKER=me", "STINT_SERVER=" + s.Base(), "PGHOST=db.example", "GIT_TERMINAL_PROMPT=0"} {
			if !strings.Contains(out, want+"\n") {
				t.Errorf("no %s in its environment", want)
			}
		}
		for _, secret := range []string{s.Token, "lease_token", "STINT_TOKEN", "STINT_DB", "hunter2", "STINT_KEY=another"} {
			if strings.Contains(out, secret) {
				t.Errorf("the command could read %s", secret)
			}
		}
		if run.Worker != "me" {
			t.Errorf("the run names the worker %q", run.Worker)
		}
	})
}

// napper prints its own and a child's process id, and ends by no SIGTERM.
const napper = `trap '' TERM; sh -c 'trap "" TERM; while :; do sleep 1; done' & echo "pids $$ $!"; wait; while :; do sleep 1; done`

// pids waits for what napper prints.
func pids(t *testing.T, w *process) []string {
	t.Helper()
	apitest.Await(t, "command that runs", func() bool { return w.out.Has("pids ") })
	_, rest, _ := strings.Cut(w.out.String(), "pids ")
	apitest.Await(t, "whole line", func() bool { return strings.Contains(w.out.String(), "\n") })
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Fields(line)
}

func awaitGone(t *testing.T, all []string) {
	t.Helper()
	for _, pid := range all {
		apitest.Await(t, "end of process "+pid, func() bool { return !alive(pid) })
	}
}

func TestWorkStopsTheCommandOfACancelledJob(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		w := s.work(napper, "--max-jobs", "1", "--lease", "10s", "--grace", "1s")
		all := pids(t, w)
		s.Must(http.StatusOK, "/v1/jobs/"+id+"/cancel", "")
		awaitGone(t, all)
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		s.awaitState(id, "cancelled")
	})
}

func TestWorkKillsACommandThatLostItsLease(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		w := s.work(napper, "--max-jobs", "1", "--lease", "10s")
		all := pids(t, w)
		dbtest.Plant(t, s.db, "update jobs set lease_token = 'another' where id = $1", id)
		awaitGone(t, all)
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		if w.out.Has("msg=reported") {
			t.Errorf("something was reported for a lease that was lost")
		}
		if job := s.job(id); job.State != "claimed" {
			t.Errorf("the job is %s: it was the other's", job.State)
		}
	})
}

func TestWorkThatIsStoppedReleasesItsJob(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		w := s.work(strings.ReplaceAll(napper, "trap '' TERM; ", ""), "--grace", "500ms")
		all := pids(t, w)
		w.term(t)
		w.signal(t, syscall.SIGINT) // a wrapper passes on what the group has got as well
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		awaitGone(t, all)
		if job := s.job(id); job.State != "pending" || job.Attempt != 0 {
			t.Errorf("the job is %s at attempt %d", job.State, job.Attempt)
		}
		if run := s.runs("")[0]; run.TerminalReason != "released" {
			t.Errorf("the run ended as %s, %s", run.Status, run.TerminalReason)
		}
	})
}

func TestASecondSignalKillsWhatTheCommandStarted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		w := s.work(napper, "--grace", "10m")
		all := pids(t, w)
		w.term(t)
		apitest.Await(t, "worker that ends", func() bool {
			_ = w.cmd.Process.Signal(syscall.SIGTERM) // too early at first
			select {
			case <-w.ended:
				return true
			default:
				return false
			}
		})
		awaitGone(t, all)
		if status := w.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
			t.Errorf("the worker ended with %s", w.cmd.ProcessState)
		}
		if job := s.job(id); job.State != "claimed" {
			t.Errorf("the job is %s: its end was reported", job.State)
		}
	})
}

func TestWorkThatIsStoppedLetsACommandEndInTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		file := filepath.Join(t.TempDir(), "go")
		w := s.work("echo started; while [ ! -e "+file+" ]; do sleep 0.1; done; echo 7", "--grace", "60s")
		apitest.Await(t, "command that runs", func() bool { return w.out.Has("started\n") })
		w.term(t)
		apitest.Await(t, "worker that stops", func() bool { return w.out.Has("stopping") })
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		if job := s.job(id); job.State != "succeeded" || string(job.Result) != "7" {
			t.Errorf("the job is %s with %s", job.State, job.Result)
		}
	})
}

func TestAResultOutlivesTheServersAbsence(t *testing.T) {
	t.Parallel()
	eachServing(t, func(t *testing.T, s *serving) {
		id := s.enqueue()
		file := filepath.Join(t.TempDir(), "go")
		w := s.work("echo started; while [ ! -e "+file+" ]; do sleep 0.1; done; echo 7", "--max-jobs", "1")
		apitest.Await(t, "command that runs", func() bool { return w.out.Has("started\n") })
		s.kill()
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		apitest.Await(t, "report without a server", func() bool { return w.out.Has("cannot report for now") })
		s.start()
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		if job := s.job(id); job.State != "succeeded" || string(job.Result) != "7" || job.Attempt != 1 {
			t.Errorf("the job is %s at attempt %d with %s", job.State, job.Attempt, job.Result)
		}
	})
}

func TestAWorkerWithoutAValidTokenEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		s.Token = "stint_nonsense"
		if code := s.work("true").exit(t); code != exitUnauthorized {
			t.Errorf("exit %d, want %d", code, exitUnauthorized)
		}
	})
}

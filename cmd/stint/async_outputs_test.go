package main

import (
	"errors"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
)

// eachDeadEnd runs fn with each output that takes nothing.
func eachDeadEnd(t *testing.T, fn func(t *testing.T, out *os.File)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) *os.File{"closed": closedPipe, "full": fullDevice, "stuck": stuckPipe} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := open(t)
			t.Cleanup(func() { out.Close() })
			fn(t, out)
		})
	}
}

func closedPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	return w
}

func fullDevice(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// stuckPipe is a full pipe that nobody reads.
func stuckPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write(make([]byte, 8<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the pipe took %d bytes: %v", n, err)
	}
	return w
}

func TestWorkGoesOnWhenNobodyTakesItsOutput(t *testing.T) {
	t.Parallel()
	eachDeadEnd(t, func(t *testing.T, out *os.File) {
		each(t, func(t *testing.T, s *replica) {
			ids := []string{s.enqueue(), s.enqueue(), s.enqueue()}
			const tenMB = `yes "a line of output" | head -c 10000000; echo; echo '{"ok":1}'`
			w := spawnTo(t, out, s.env(), "stint", "work", "--kinds", "audit", "--max-jobs", "3", "--", "sh", "-c", tenMB)
			if code := w.exit(t); code != 0 {
				t.Errorf("exit %d: %s", code, w.cmd.ProcessState)
			}
			for _, id := range ids {
				if job := s.job(id); job.State != "succeeded" || job.Attempt != 1 || string(job.Result) != `{"ok":1}` {
					t.Errorf("the job is %s at attempt %d with %s", job.State, job.Attempt, job.Result)
				}
			}
		})
	})
}

func TestWorkStopsCleanlyWhenNobodyTakesItsOutput(t *testing.T) {
	t.Parallel()
	eachDeadEnd(t, func(t *testing.T, out *os.File) {
		each(t, func(t *testing.T, s *replica) {
			id := s.enqueue()
			w := spawnTo(t, out, s.env(), "stint", "work", "--kinds", "audit", "--grace", "500ms", "--", "sh", "-c", "exec yes")
			s.awaitState(id, "claimed")
			w.term(t)
			if code := w.exit(t); code != 0 {
				t.Errorf("exit %d: %s", code, w.cmd.ProcessState)
			}
			if job := s.job(id); job.State != "pending" || job.Attempt != 0 {
				t.Errorf("the job is %s at attempt %d", job.State, job.Attempt)
			}
		})
	})
}

// A command starts with the signals of any process: yes ends when its reader does.
func TestACommandStartsWithSIGPIPEAsUsual(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		w := s.work(`(yes; echo $? >code) | head -1 >/dev/null; cat code`, "--max-jobs", "1")
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		if job := s.job(id); string(job.Result) != "141" {
			t.Errorf("yes ended with %s", job.Result)
		}
	})
}

func TestServeGoesOnWhenNobodyTakesItsLog(t *testing.T) {
	t.Parallel()
	eachDeadEnd(t, func(t *testing.T, out *os.File) {
		dbtest.Engines(t, func(t *testing.T, engine string) {
			db := dbtest.Whole(t, engine)
			s := newServing(t, db, firstToken(t, db))
			s.process = spawnTo(t, out, append(s.env(), apitest.LongWaits), "stint", "serve", "--addr", s.addr, "--admin-addr", "", "--drain-delay", "0s")
			apitest.Await(t, "a ready server", s.Ready)
			for range 200 {
				if a := s.Get("/v1/jobs"); a.Status != http.StatusOK {
					t.Fatalf("GET /v1/jobs: %s", a)
				}
			}
			s.term(t)
			if code := s.exit(t); code != 0 {
				t.Errorf("exit %d: %s", code, s.cmd.ProcessState)
			}
		})
	})
}

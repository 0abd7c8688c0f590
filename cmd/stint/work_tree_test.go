package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

// brood prints its own and two children's process ids; one of these has a child of
// its own, the other a session.
const brood = `sh -c 'sleep 600; true' & a=$!; setsid sleep 600 & echo "pids $$ $a $!"; `

func TestNothingOfACommandOutlivesItsWorker(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		s.enqueue()
		w := s.work(brood + "wait")
		all := pids(t, w)
		w.kill()
		awaitGone(t, all)
	})
}

func TestNothingOfACommandOutlivesIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue()
		w := s.work(brood+`echo '{"ok":1}'`, "--max-jobs", "1")
		all := pids(t, w)
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		for _, pid := range all {
			if alive(pid) {
				t.Errorf("%s lives, and the worker has ended", pid)
			}
		}
		if job := s.job(id); job.State != "succeeded" || string(job.Result) != `{"ok":1}` {
			t.Errorf("the job is %s with %s", job.State, job.Result)
		}
	})
}

// A program that asks on the terminal would be stopped for ever, while its lease
// is renewed: it belongs to no foreground group.
func TestACommandHasNoTerminal(t *testing.T) {
	t.Parallel()
	s := of(t, apitest.Shared(t, store.SQLite))
	id := s.enqueue(`"max_attempts":1`)
	file := filepath.Join(t.TempDir(), "asks")
	if err := os.WriteFile(file, []byte("#!/bin/sh\ntest -t 0 || read -r answer </dev/tty\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w := spawn(t, s.env(), "script", "-qec", "stint work --kinds audit --max-jobs 1 -- "+file, "/dev/null")
	if code := w.exit(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	if job := s.job(id); job.State != "failed" {
		t.Errorf("the job is %s", job.State)
	}
}

// Each of these ends a process by default. 40 is one of the real-time signals,
// which service managers and container images use.
func TestWhateverSignalEndsAWorkerItsJobIsReleased(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{
		syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGUSR1, syscall.SIGALRM, 40,
	} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := of(t, apitest.Shared(t, store.SQLite))
			id := s.enqueue()
			w := s.work(`echo "pids $$"; exec sleep 600`, "--grace", "0s")
			all := pids(t, w)
			w.signal(t, signal)
			if code := w.exit(t); code != 0 {
				t.Errorf("exit %d", code)
			}
			awaitGone(t, all)
			if job := s.job(id); job.State != "pending" || job.Attempt != 0 {
				t.Errorf("the job is %s at attempt %d", job.State, job.Attempt)
			}
		})
	}
}

func TestSignalsThatDoNotStopAWorker(t *testing.T) {
	t.Parallel()
	s := of(t, apitest.Shared(t, store.SQLite))
	id := s.enqueue()
	file := filepath.Join(t.TempDir(), "go")
	// nohup does this, and more with the outputs.
	cmd := exec.Command("sh", "-c", fmt.Sprintf(`trap "" HUP
		exec stint work --kinds audit --max-jobs 1 -- sh -c 'echo started; until [ -e %s ]; do sleep 0.05; done'`, file))
	// The kernel drops the stop signals of a terminal for a group that no shell watches.
	cmd.Env, cmd.SysProcAttr = s.env(), &syscall.SysProcAttr{Setpgid: true}
	w := launch(t, cmd)
	apitest.Await(t, "command that runs", func() bool { return w.out.Has("started\n") })
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGPIPE} {
		w.signal(t, signal)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := w.exit(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	if job := s.job(id); job.State != "succeeded" {
		t.Errorf("the job is %s", job.State)
	}
	if w.out.Has("stopping") {
		t.Errorf("the worker was stopped")
	}
}

// A worker and its supervisor are two: each may be killed while a command runs or
// after it has ended, and what it has done is not done again.
func TestAJobWhoseSupervisorIsKilled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		id := s.enqueue(`"max_attempts":1`)
		w := s.work(brood+`echo "parent $PPID"; wait`, "--max-jobs", "1")
		all := pids(t, w)
		apitest.Await(t, "supervisor", func() bool { return w.out.Has("parent ") })
		var supervisor int
		_, rest, _ := strings.Cut(w.out.String(), "parent ")
		if _, err := fmt.Sscan(rest, &supervisor); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(supervisor, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if code := w.exit(t); code != 0 {
			t.Errorf("exit %d", code)
		}
		awaitGone(t, all)
		var failure struct{ Code string }
		job := s.job(id)
		if err := json.Unmarshal(job.Error, &failure); err != nil || job.State != "failed" || failure.Code != "supervisor_lost" {
			t.Errorf("the job is %s: %s", job.State, job.Error)
		}
	})
}

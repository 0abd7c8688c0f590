package main

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// told is what a stint printed, and how it ended.
type told struct {
	stdout, stderr string
	code           int
}

func (s *replica) stint(t *testing.T, args ...string) told {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "stint", args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.env(), &stdout, &stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return told{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// attempt is a job that was claimed.
type attempt struct{ id, lease, run string }

func (s *replica) attempt() attempt {
	s.T.Helper()
	s.Must(201, "/v1/jobs", `{"kind":"review","priority":1}`)
	got := s.Must(200, "/v1/jobs/claim", `{"worker":"w","kinds":["review"]}`)
	return attempt{got.Str("jobs.0.id"), got.Str("jobs.0.lease_token"), got.Str("jobs.0.run_id")}
}

func TestRunLogsPrintsWhatPeopleMayRead(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		a := s.attempt()
		if got := s.stint(t, "run", "logs", a.run); got != (told{"", "stint: nothing was kept of what the run printed\n", 0}) {
			t.Errorf("before anything was printed: %+v", got)
		}
		log := func(seq int, members string) {
			s.Must(200, "/v1/jobs/"+a.id+"/log", fmt.Sprintf(`{"lease_token":"%s","seq":%d,%s}`, a.lease, seq, members))
		}
		log(1, `"text":"gone"`)
		log(2, `"skipped_bytes":6,"text":"one\r\n\u001b[31mtwo\u001b[0m\tx\u0000\u202ey\u001b]0;t\u0007"`)
		s.Must(200, "/v1/jobs/"+a.id+"/complete", `{"lease_token":"`+a.lease+`","warning":"no result:\r\n\u001b[2Jnot JSON"}`)
		got := s.stint(t, "run", "logs", a.run)
		want := told{"one\ntwo\tx\ufffd y ]0;t \n", "stint: 10 of 42 bytes were cut from the beginning\nstint: the run's warning: no result:\nnot JSON\n", 0}
		if got != want {
			t.Errorf("printed %+v, want %+v", got, want)
		}
		if got := s.stint(t, "run", "logs", "-q", a.run); got.stdout != want.stdout || got.stderr != "" {
			t.Errorf("-q: %+v", got)
		}
		if got := s.stint(t, "run", "logs", "-o", "json", a.run); !strings.HasPrefix(got.stdout, `{"run_id":"`+a.run) || got.stderr != "" {
			t.Errorf("-o json: %+v", got)
		}
		if got := s.stint(t, "run", "show", "-o", "table", a.run); !strings.Contains(got.stdout, "no result:  not JSON\n") || strings.Contains(got.stdout, "\x1b") {
			t.Errorf("run show: %q", got.stdout)
		}
		if got := s.stint(t, "run", "logs", "run_x"); got.code != exitNotFound {
			t.Errorf("an unknown run: %+v", got)
		}
	})
}

func TestEachFinishOfTheCommandLineTakesAWarning(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *replica) {
		for _, action := range []string{"complete", "fail", "snooze", "release"} {
			a := s.attempt()
			cmd := exec.CommandContext(t.Context(), "stint", "job", action, a.id, "--warning", "mind "+action)
			cmd.Env = append(s.env(), "STINT_LEASE_TOKEN="+a.lease)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", action, err, out)
			}
			if got := s.Get("/v1/runs/" + a.run).Str("warning"); got != "mind "+action {
				t.Errorf("%s: the run keeps %q", action, got)
			}
			s.Post("/v1/jobs/"+a.id+"/cancel", "")
		}
	})
}

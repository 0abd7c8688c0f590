package supervise

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
)

// printed is a writer that a test reads.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// shell is a job that runs a script for a minute at most.
func shell(script string, args ...string) Job {
	return Job{
		Name: "test", Path: "/bin/sh", Args: append([]string{"sh", "-c", script, "sh"}, args...),
		Env: []string{"PATH=" + os.Getenv("PATH")}, Until: boottime.Now().Add(time.Minute),
	}
}

// started is a command of this process, settled when the test ends. One whose
// supervisor dies is for apart: what lives on of a worker that a test kills becomes
// this process's, and would count as left over.
func started(t *testing.T, j Job) (c *Command, stdout, stderr *printed) {
	t.Helper()
	var s Supervisors
	stdout, stderr = &printed{}, &printed{}
	c, err := s.Start(j, stdout, stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Kill()
		<-c.Done()
		c.Settled()
		s.Wait()
	})
	return c, stdout, stderr
}

func TestACommandGetsItsInputAndGivesItsOutputs(t *testing.T) {
	t.Parallel()
	j := shell(`cat; echo "$1" >&2; exit 3`, "not \xff UTF-8")
	j.Stdin = bytes.Repeat([]byte("0123456789abcde\n"), 64<<10)
	c, stdout, stderr := started(t, j)
	end := c.End()
	if !end.Known || end.Status.ExitStatus() != 3 || end.Asked || end.Expired || end.Alone || end.Left != nil || end.Dropped != 0 {
		t.Errorf("ended as %+v", end)
	}
	if got := stdout.String(); got != string(j.Stdin) {
		t.Errorf("%d bytes of %d came back", len(got), len(j.Stdin))
	}
	if got := stderr.String(); got != "not \xff UTF-8\n" {
		t.Errorf("error output is %q", got)
	}
	if got := string(end.Report); !strings.Contains(got, "seen 1048588: 0123") {
		t.Errorf("the attempt reports %q", got)
	}
}

// The worker's own environment holds its secrets.
func TestACommandHasNoVariablesButItsOwn(t *testing.T) {
	t.Parallel()
	for want, env := range map[string][]string{"": nil, "A=1\n": {"A=1"}} {
		j := Job{Path: "/usr/bin/env", Args: []string{"env"}, Env: env, Until: boottime.Now().Add(time.Minute)}
		c, stdout, _ := started(t, j)
		if end := c.End(); end.Status != 0 || stdout.String() != want {
			t.Errorf("it has %q, and ended as %+v", stdout, end)
		}
	}
}

func TestACommandThatCannotBeExecutedIsOfNoUse(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"missing": "/nonexistent/program", "no program": "/etc/passwd", "folder": "/tmp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := shell("")
			j.Path = path
			var s Supervisors
			_, err := s.Start(j, &printed{}, &printed{})
			if !errors.Is(err, ErrCommand) || !strings.Contains(err.Error(), path) {
				t.Errorf("starting it says %v", err)
			}
		})
	}
}

func TestAKillEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	c, stdout, _ := started(t, shell(`trap "" TERM; setsid sh -c 'trap "" TERM; echo ready; while :; do sleep 1; done' & wait`))
	await(t, "a process in a session of its own", func() bool { return stdout.String() != "" })
	c.Kill()
	end := c.End()
	if !end.Asked || !end.Status.Signaled() || end.Left != nil {
		t.Errorf("ended as %+v", end)
	}
}

// await waits for a condition.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	late := time.NewTimer(30 * time.Second)
	defer late.Stop()
	for !is() {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-late.C:
			t.Fatalf("not in time: %s", what)
		}
	}
}

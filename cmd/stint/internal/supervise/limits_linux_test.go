package supervise

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
)

func TestTheTimeLimitCanBeMoved(t *testing.T) {
	t.Parallel()
	j := shell("exec sleep 1000")
	j.Until = boottime.Now().Add(500 * time.Millisecond)
	c, _, _ := started(t, j)
	c.Extend(boottime.Now().Add(time.Hour))
	await(t, "the end of the first limit", func() bool { return boottime.Until(j.Until) < -2*every })
	select {
	case <-c.Done():
		t.Fatalf("ended as %+v although it was extended", c.End())
	default:
	}
	began := time.Now()
	c.Extend(boottime.Now())
	end := c.End()
	if took := time.Since(began); took > 20*time.Second { // a second on a free machine
		t.Errorf("it took %v", took)
	}
	if !end.Expired || end.Asked || end.Alone || end.Status.Signal() != syscall.SIGKILL {
		t.Errorf("ended as %+v", end)
	}
}

func TestTerminateReachesAllOfACommand(t *testing.T) {
	t.Parallel()
	c, stdout, _ := started(t, shell(`trap 'echo the command' TERM
setsid sh -c 'trap "echo a stopped process; exit" TERM; echo ready; kill -STOP $$; sleep 1000' &
setsid sh -c 'trap "echo a session; exit" TERM; echo ready; while :; do sleep 0.01; done' &
while :; do sleep 0.01; done`))
	await(t, "all of it", func() bool { return strings.Count(stdout.String(), "ready") == 2 })
	c.Terminate(time.Second)
	c.Terminate(time.Hour) // the earlier end counts, and nobody is asked twice
	end := c.End()
	for _, who := range []string{"the command", "a stopped process", "a session"} {
		if strings.Count(stdout.String(), who+"\n") != 1 {
			t.Errorf("%s was not asked once: %q", who, stdout)
		}
	}
	if !end.Asked || end.Expired || end.Status.Signal() != syscall.SIGKILL {
		t.Errorf("ended as %+v", end)
	}
}

// What holds the outputs would hold the end as well.
func TestWhatACommandLeavesBehindIsKilled(t *testing.T) {
	t.Parallel()
	a := startApart(t, `setsid sh -c ': >"$0/ready"; exec sleep 1000' "$1" &
while ! [ -e "$1/ready" ]; do sleep 0.01; done
exit 7`)
	end := a.awaitEnd()
	if left := a.left(); len(left) != 1 || left[0].pid != a.supervisor {
		t.Errorf("%v left beside the supervisor %d", left, a.supervisor)
	}
	if !end.Known || end.Status.ExitStatus() != 7 || end.Asked || end.Left != nil {
		t.Errorf("ended as %+v", end)
	}
}

// A worker that was frozen before the start hands over a job whose time is over.
func TestACommandWhoseTimeIsOverIsNotStarted(t *testing.T) {
	t.Parallel()
	ran := t.TempDir() + "/ran"
	j := shell(`: >"$1"`, ran)
	j.Until = boottime.Now()
	var s Supervisors
	_, err := s.Start(j, &printed{}, &printed{})
	if err == nil || errors.Is(err, ErrCommand) || exists(ran) {
		t.Errorf("starting it says %v; it ran: %t", err, exists(ran))
	}
}

// What is printed must not delay the news that the command runs.
func TestTheStartOfACommandIsToldFirst(t *testing.T) {
	t.Parallel()
	for range 20 {
		if c, _, _ := started(t, shell("echo done")); c.PID() == 0 || c.End().Status != 0 || c.status == nil {
			t.Fatalf("pid %d ended as %+v, status %v", c.PID(), c.End(), c.status)
		}
	}
}

// Somebody else may hold the outputs, and for ever.
func TestAnEndDoesNotWaitForWhoeverHoldsTheOutputs(t *testing.T) {
	t.Parallel()
	a := startApart(t, `while ! [ -e "$1/go" ]; do sleep 0.01; done; echo done`)
	held, err := os.OpenFile("/proc/"+strconv.Itoa(a.command)+"/fd/1", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	a.make("go")
	if end, got := a.settle(); !end.Known || end.Alone || got != "done\n" {
		t.Errorf("it printed %q, and ended as %+v", got, end)
	}
}

// A machine that is full now starts the command later.
func TestOnlyACommandThatCanNeverBeStartedIsOfNoUse(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		syscall.EAGAIN: false, syscall.ENOMEM: false, syscall.EMFILE: false, syscall.ENFILE: false, syscall.ETXTBSY: false,
		syscall.ENOENT: true, syscall.EACCES: true, syscall.ENOEXEC: true,
	} {
		if got := failureOf(&os.PathError{Op: "start", Path: "x", Err: err}).Useless; got != want {
			t.Errorf("%v: of no use is %t", err, got)
		}
	}
}

package supervise

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
)

func TestAFrozenSupervisorIsGivenUp(t *testing.T) {
	t.Parallel()
	a := newApart(t, wild)
	a.cmd.Env = append(a.cmd.Env, "STINT_TEST_BEAT=50ms")
	a.start()
	a.awaitFiles(wildFiles...)
	a.signal(a.supervisor, syscall.SIGSTOP)
	if end := a.awaitEnd(); !end.Alone || end.Known || end.Asked {
		t.Errorf("the worker knows %+v", end)
	}
	a.nothingLeft()
}

func TestACrashOfTheSupervisorIsTold(t *testing.T) {
	t.Parallel()
	a := startApart(t, "echo panic; sleep 1000")
	if end := a.awaitEnd(); !end.Alone || end.Known || !strings.Contains(end.Crash, "the attempt is broken") {
		t.Errorf("ended as %+v", end)
	}
	a.nothingLeft()
}

func TestAKillDoesNotWaitForAFrozenSupervisor(t *testing.T) {
	t.Parallel()
	a := newApart(t, "sleep 1000")
	a.cmd.Env = append(a.cmd.Env, "STINT_TEST_BEAT=1h") // no ping finds it out
	a.start()
	a.signal(a.supervisor, syscall.SIGSTOP)
	a.awaitState(a.supervisor, 'T')
	began := time.Now()
	a.tell("kill")
	end := a.awaitEnd()
	if took := time.Since(began); took > 20*obeyWithin { // one on a free machine
		t.Errorf("it took %v", took)
	}
	if !end.Alone || !end.Asked || end.Known {
		t.Errorf("ended as %+v", end)
	}
	a.nothingLeft()
}

// The worker keeps the time limit beside its supervisor: if that is frozen, it
// does not wait until it knows.
func TestTheTimeLimitHoldsWhileTheSupervisorIsFrozen(t *testing.T) {
	t.Parallel()
	a := newApart(t, "sleep 1000")
	a.job.Until = boottime.Now().Add(time.Second)
	a.start()
	a.signal(a.supervisor, syscall.SIGSTOP)
	if end := a.awaitEnd(); !end.Alone || !end.Expired {
		t.Errorf("ended as %+v", end)
	}
	a.nothingLeft()
}

// A worker whose own output is not read hears no answers to its pings.
func TestAWorkerThatIsHeldUpTakesNoSupervisorForFrozen(t *testing.T) {
	t.Parallel()
	a := newApart(t, `head -c 500000 /dev/zero; : >"$1/printed"`)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	a.cmd.Stdout = in
	a.cmd.Env = append(a.cmd.Env, "STINT_TEST_BEAT=50ms")
	a.start()
	_ = in.Close()
	a.awaitFiles("printed")
	<-time.After(3 * beatsSilent * 50 * time.Millisecond)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if end := a.awaitEnd(); end.Alone || !end.Known {
		t.Errorf("ended as %+v", end)
	}
}

// The supervisor goes on reading what the command prints, keeps what fits, and
// says how much the worker has missed.
func TestAFrozenWorkerDoesNotStopItsCommand(t *testing.T) {
	t.Parallel()
	a := startApart(t, `while ! [ -e "$1/go" ]; do sleep 0.01; done
head -c 5000000 /dev/zero | tr '\0' x
: >"$1/printed"
while ! [ -e "$1/exit" ]; do sleep 0.01; done`)
	a.signal(a.worker, syscall.SIGSTOP)
	a.awaitState(a.worker, 'T')
	a.make("go")
	a.awaitFiles("printed")
	a.signal(a.worker, syscall.SIGCONT)
	a.make("exit")
	end, printed := a.settle()
	if got := len(printed); end.Dropped == 0 || got < outboxBytes/2 || int64(got)+end.Dropped != 5000000 {
		t.Errorf("the worker got %d bytes, and knows %+v", got, end)
	}
	if report := string(end.Report); !strings.Contains(report, "seen 5000000: xxx") {
		t.Errorf("the attempt reports %q", report)
	}
}

// A worker that takes output slowly slows its command down, and misses nothing.
func TestASlowWorkerMissesNothing(t *testing.T) {
	t.Parallel()
	var s Supervisors
	slow := &slowly{}
	c, err := s.Start(shell(`head -c 4000000 /dev/zero | tr '\0' x`), slow, slow)
	if err != nil {
		t.Fatal(err)
	}
	end := c.End()
	c.Settled()
	s.Wait()
	if end.Dropped != 0 || slow.bytes != 4000000 {
		t.Errorf("the worker got %d bytes, and knows %+v", slow.bytes, end)
	}
}

// slowly takes 2 ms for what it is given.
type slowly struct{ bytes int }

func (s *slowly) Write(p []byte) (int, error) {
	<-time.After(2 * time.Millisecond)
	s.bytes += len(p)
	return len(p), nil
}

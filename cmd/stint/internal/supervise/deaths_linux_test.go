package supervise

import (
	"strings"
	"syscall"
	"testing"
)

// wild starts what is hard to kill: it ignores SIGTERM, has sessions of its own,
// leaves its parents, forks all the time, and is stopped.
const wild = `trap "" TERM HUP
setsid sh -c 'trap "" TERM; : >"$0/session"; while :; do sleep 1; done' "$1" &
(setsid sh -c '(: >"$0/daemon"; exec sleep 1000) &' "$1" &)
(while :; do (sleep 0.1 &); : >"$1/forks"; done) &
setsid sh -c ': >"$0/stopped"; kill -STOP $$' "$1" &
cat >"$1/chain.sh" <<'END'
: >"$1/chain"
setsid sh "$0" "$1" &
END
setsid sh "$1/chain.sh" "$1" &
while :; do sleep 1; done`

var wildFiles = []string{"session", "daemon", "forks", "stopped", "chain"}

func TestNothingOutlivesASupervisorThatIsKilled(t *testing.T) {
	t.Parallel()
	a := startApart(t, wild)
	a.awaitFiles(wildFiles...)
	a.signal(a.supervisor, syscall.SIGKILL)
	a.nothingLeft()
	if end := a.awaitEnd(); !end.Alone || end.Known || end.Asked || end.Left != nil {
		t.Errorf("the worker knows %+v", end)
	}
}

func TestNothingOutlivesAWorkerThatIsKilled(t *testing.T) {
	t.Parallel()
	a := startApart(t, wild)
	a.awaitFiles(wildFiles...)
	a.signal(a.worker, syscall.SIGKILL)
	a.nothingLeft()
	if got := a.read("attempt"); !strings.HasSuffix(got, "alone \n") {
		t.Errorf("the attempt was told %q: a killed command has no report", got)
	}
}

// Nobody is left who could kill it, but for the kernel.
func TestACommandDiesWithItsSupervisor(t *testing.T) {
	t.Parallel()
	a := startApart(t, `trap "" TERM; while :; do sleep 1; done`)
	a.signal(a.worker, syscall.SIGSTOP)
	a.awaitState(a.worker, 'T')
	a.signal(a.supervisor, syscall.SIGKILL)
	a.awaitState(a.command, 'Z')
}

// A frozen worker cannot renew a lease: the command is over when that is, also when
// the machine slept meanwhile.
func TestTheTimeLimitHoldsWhileTheWorkerIsFrozen(t *testing.T) {
	t.Parallel()
	a := startApart(t, wild)
	a.awaitFiles(wildFiles...)
	a.signal(a.worker, syscall.SIGSTOP)
	a.awaitState(a.worker, 'T')
	a.make("jump")
	await(t, "a dead command", func() bool { return len(a.left()) == 1 }) // the supervisor, for its report
	a.signal(a.worker, syscall.SIGCONT)
	if end := a.awaitEnd(); !end.Expired || end.Alone || end.Status.Signal() != syscall.SIGKILL {
		t.Errorf("the worker knows %+v", end)
	}
}

// A command has ended with 0 when the one of the two that may tell it dies.
func TestAnExitIsKnownToWhoeverIsLeft(t *testing.T) {
	t.Parallel()
	const paid = `echo done; while ! [ -e "$1/go" ]; do sleep 0.01; done`
	t.Run("the supervisor is frozen, then killed", func(t *testing.T) {
		t.Parallel()
		a := startApart(t, paid)
		a.signal(a.supervisor, syscall.SIGSTOP)
		a.awaitState(a.supervisor, 'T')
		a.make("go")
		a.awaitState(a.command, 'Z')
		a.signal(a.supervisor, syscall.SIGKILL)
		if end := a.awaitEnd(); !end.Alone || !end.Known || end.Status != 0 {
			t.Errorf("the worker knows %+v", end)
		}
		a.nothingLeft()
	})
	t.Run("the worker is frozen, and the supervisor killed", func(t *testing.T) {
		t.Parallel()
		a := startApart(t, paid)
		a.signal(a.worker, syscall.SIGSTOP)
		a.awaitState(a.worker, 'T')
		a.make("go")
		await(t, "an end in the supervisor", func() bool { return a.read("attempt") != "" })
		a.awaitState(a.command, 'Z') // for the worker, which has not heard of it
		a.signal(a.supervisor, syscall.SIGKILL)
		a.signal(a.worker, syscall.SIGCONT)
		if end := a.awaitEnd(); !end.Known || end.Status != 0 {
			t.Errorf("the worker knows %+v", end)
		}
	})
	t.Run("the worker is frozen, then killed", func(t *testing.T) {
		t.Parallel()
		a := startApart(t, paid)
		a.signal(a.worker, syscall.SIGSTOP)
		a.awaitState(a.worker, 'T')
		a.make("go")
		a.awaitState(a.command, 'Z')
		a.signal(a.worker, syscall.SIGKILL)
		await(t, "a report of the supervisor", func() bool { return strings.Contains(a.read("attempt"), "alone status 0 ") })
		a.nothingLeft()
	})
	t.Run("the worker is killed before it has reported", func(t *testing.T) {
		t.Parallel()
		a := startApart(t, paid)
		a.make("go")
		a.awaitEnd()
		a.signal(a.worker, syscall.SIGKILL)
		await(t, "a report of the supervisor", func() bool { return strings.Contains(a.read("attempt"), "alone status 0 ") })
		a.nothingLeft()
	})
	t.Run("the worker is frozen, and stays so", func(t *testing.T) {
		t.Parallel()
		a := startApart(t, paid)
		a.signal(a.worker, syscall.SIGSTOP)
		a.awaitState(a.worker, 'T')
		a.make("go")
		await(t, "an end in the supervisor", func() bool { return a.read("attempt") != "" })
		a.make("jump") // most of the time for a report has passed
		await(t, "a report of the supervisor", func() bool { return strings.Contains(a.read("attempt"), "alone status 0 ") })
		a.signal(a.worker, syscall.SIGCONT)
		if end := a.awaitEnd(); end.Alone || !end.Known || end.Status != 0 || !strings.Contains(string(end.Report), "done") {
			t.Errorf("the worker that wakes up knows %+v", end)
		}
	})
}

func TestASettledCommandIsReportedByNobodyElse(t *testing.T) {
	t.Parallel()
	a := startApart(t, "exit 0")
	a.settle()
	a.nothingLeft()
	if got := a.read("attempt"); strings.Contains(got, "alone") {
		t.Errorf("the attempt was told %q", got)
	}
}

// Process 1 of a container adopts what other programs leave behind.
func TestAWorkerReapsWhatItAdopts(t *testing.T) {
	t.Parallel()
	a := startApart(t, "exit 0")
	a.awaitEnd()
	a.tell("stray")
	await(t, "a zombie of the worker", func() bool { return a.zombies() == 1 })
	a.tell("again")
	await(t, "no zombie", func() bool { return a.zombies() == 0 })
	a.settle()
}

// zombies counts the worker's.
func (a *apart) zombies() (n int) {
	for _, p := range processes() {
		if p.parent == a.worker && p.state == 'Z' {
			n++
		}
	}
	return n
}

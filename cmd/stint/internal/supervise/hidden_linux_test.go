package supervise

import (
	"encoding/json"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hiding starts processes that /proc does not show to others: below the command,
// below each other, and with a child that is shown. Its own shell is one as well.
const hiding = `setsid "$1/hidden" -c ': >"$0/direct"; while :; do sleep 1; done' "$1" &
setsid sh -c 'setsid "$0/hidden" -c ": >\$0/deep; setsid sleep 1000 & while :; do sleep 1; done" "$0" & wait' "$1" &
while ! [ -e "$1/go" ]; do sleep 0.01; done
exit 7`

var hidingFiles = []string{"direct", "deep"}

// startHiding starts a worker where /proc hides processes; the command itself is one.
func startHiding(t *testing.T, script, system string) *apart {
	t.Helper()
	a := newApart(t, script)
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("ln", "-s", shell, a.path("hidden")).Run(); err != nil {
		t.Fatal(err)
	}
	a.job.Path = a.path("hidden")
	a.job.Env = append(a.job.Env, "STINT_TEST_SYSTEM="+system)
	a.cmd.Env = append(a.cmd.Env, "STINT_TEST_SYSTEM="+system)
	a.start()
	a.awaitFiles(hidingFiles...)
	return a
}

func TestWhatProcHidesIsKilled(t *testing.T) {
	t.Parallel()
	t.Run("the command ends", func(t *testing.T) {
		t.Parallel()
		a := startHiding(t, hiding, "hidepid")
		a.make("go")
		end, _ := a.settle()
		a.nothingLeft()
		if !end.Known || end.Status.ExitStatus() != 7 || end.Left != nil {
			t.Errorf("ended as %+v", end)
		}
	})
	t.Run("the worker dies", func(t *testing.T) {
		t.Parallel()
		a := startHiding(t, hiding, "hidepid")
		a.signal(a.worker, syscall.SIGKILL)
		a.nothingLeft()
	})
	t.Run("the supervisor dies", func(t *testing.T) {
		t.Parallel()
		a := startHiding(t, hiding, "hidepid")
		a.signal(a.supervisor, syscall.SIGSTOP)
		a.awaitState(a.supervisor, 'T')
		a.make("go")
		a.awaitState(a.command, 'Z')
		a.signal(a.supervisor, syscall.SIGKILL)
		end := a.awaitEnd()
		a.nothingLeft()
		if !end.Alone || !end.Known || end.Status.ExitStatus() != 7 || end.Left != nil {
			t.Errorf("ended as %+v", end)
		}
	})
}

// A kernel may have no list of children: then at least it is said.
func TestWhatCannotBeSeenIsNamed(t *testing.T) {
	t.Parallel()
	a := startHiding(t, hiding, "hidepid nochildren")
	a.make("go")
	end := a.awaitEnd()
	if len(end.Left) != 1 || !strings.Contains(end.Left[0], "/proc does not show") {
		t.Errorf("ended as %+v", end)
	}
}

// A supervisor is hidden as well: whether it is slow or frozen, its clock tells.
func TestASlowProcessIsNotTakenForAFrozenOne(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	its := activity{pid: cmd.Process.Pid}
	for range 3 {
		await(t, "its next use of a processor", func() bool { return !its.usedNothing() })
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	await(t, "a stopped process", func() bool {
		p, _ := processOf(cmd.Process.Pid)
		return p.state == 'T'
	})
	its.usedNothing()
	<-time.After(20 * time.Millisecond)
	if !its.usedNothing() || !its.none() {
		t.Error("a stopped process is taken for a slow one")
	}
}

// A container may have no /proc, or that of the system outside: then numbers of
// processes mean others.
func TestAWorkerNeedsItsOwnProc(t *testing.T) {
	t.Parallel()
	a := newApart(t, ": >\"$1/ran\"")
	a.cmd.Env = append(a.cmd.Env, "STINT_TEST_SYSTEM=noproc")
	a.launch()
	if err := json.NewEncoder(a.in).Encode(a.job); err != nil {
		t.Fatal(err)
	}
	await(t, "a complaint", func() bool { return strings.Contains(a.said.String(), "/proc is missing") })
	if err := a.cmd.Wait(); err == nil || exists(a.path("ran")) {
		t.Errorf("the worker ends with %v", err)
	}
}

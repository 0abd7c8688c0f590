package supervise

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Such a system is told of; its commands run.
func TestASystemThatExecutesNoCopyIsTold(t *testing.T) {
	t.Parallel()
	for system, why := range map[string]string{"noexec": "permission denied", "nocopy": "no file in memory"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			a := newApart(t, "exit 7")
			a.cmd.Env = append(a.cmd.Env, "STINT_TEST_SYSTEM="+system)
			a.start()
			a.awaitEnd()
			a.tell("again")
			end, said := a.settle()
			if end.Status.ExitStatus() != 7 || !strings.Contains(string(end.Report), " dumpable true ") {
				t.Errorf("ended as %+v", end)
			}
			if strings.Count(said, "refuses a hidden copy") != 1 || !strings.Contains(said, why) {
				t.Errorf("the worker says %q", said)
			}
			if got := a.read("worker"); !strings.Contains(got, "\nagain 1792\n") {
				t.Errorf("the worker knows %q", got)
			}
		})
	}
}

// An upgrade replaces the program while a worker runs.
func TestAWorkerOutlivesItsProgram(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"", "nocopy"} {
		t.Run("system "+system, func(t *testing.T) {
			t.Parallel()
			a := newApart(t, "exit 7")
			a.cmd.Env = append(a.cmd.Env, "STINT_TEST_SYSTEM="+system)
			a.cmd.Path = a.path("program")
			if out, err := exec.Command("cp", a.image(), a.cmd.Path).CombinedOutput(); err != nil {
				t.Fatal(string(out))
			}
			a.launch()
			if err := os.WriteFile(a.path("new"), []byte("#!/bin/false"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(a.path("new"), a.cmd.Path); err != nil {
				t.Fatal(err)
			}
			a.hand()
			a.awaitEnd()
			if err := os.Remove(a.cmd.Path); err != nil {
				t.Fatal(err)
			}
			a.tell("again")
			if end, _ := a.settle(); end.Status.ExitStatus() != 7 {
				t.Errorf("ended as %+v", end)
			}
			if got := a.read("worker"); !strings.Contains(got, "\nagain 1792\n") {
				t.Errorf("the worker knows %q", got)
			}
		})
	}
}

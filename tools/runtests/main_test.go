package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The test binary is runtests itself where this is set.
const asProgram = "RUNTESTS_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestExitCodeIsThatOfGoTest(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"exit 0": 0, "exit 1": 1, "exit 3": 3, "kill -9 $$": 1} {
		script := filepath.Join(t.TempDir(), "go-test")
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0], "make test pkg", "sh", script, "./...")
		cmd.Env = append(os.Environ(), asProgram+"=1")
		err := cmd.Run()
		var ended *exec.ExitError
		if err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit code %d, want %d", text, got, want)
		}
	}
}

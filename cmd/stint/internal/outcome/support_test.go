package outcome

import (
	"os"
	"testing"

	"github.com/stint-run/stint/cmd/stint/internal/supervise"
)

// makeFiles makes an attempt's files, and writes what a test gives by name.
func makeFiles(t *testing.T, texts map[string]string) Files {
	t.Helper()
	f := NameFiles()
	if err := f.make(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Remove)
	for name, text := range texts {
		write(t, f, name, text)
	}
	return f
}

// newAttempt makes an attempt with files of its own, and writes what a test gives.
func newAttempt(t *testing.T, h *Handover, texts map[string]string) supervise.Attempt {
	t.Helper()
	h.Files = NameFiles()
	a, err := New(h.Encode())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Files.Remove)
	for name, text := range texts {
		write(t, h.Files, name, text)
	}
	return a
}

func write(t *testing.T, f Files, name, text string) {
	t.Helper()
	if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

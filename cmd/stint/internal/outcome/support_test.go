package outcome

import (
	"os"
	"testing"
)

// makeFiles makes an attempt's files, and writes what a test gives by name.
func makeFiles(t *testing.T, texts map[string]string) Files {
	t.Helper()
	f, err := MakeFiles()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Remove)
	for name, text := range texts {
		write(t, f, name, text)
	}
	return f
}

func write(t *testing.T, f Files, name, text string) {
	t.Helper()
	if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

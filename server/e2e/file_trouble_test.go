package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// onDatabase are commands that open the database of --db, those first that write
// to it whatever it holds.
var onDatabase = [][]string{
	{"serve", "--addr", "127.0.0.1:0", "--admin-addr", ""}, {"migrate", "up"}, {"migrate", "verify"}, {"token", "create", "--scopes", "admin"},
}

// TestTroubleWithTheFileIsNotTheCommandLinesFault: what passes by itself is 75, and
// what needs a person 1, in words; 2 would keep systemd from starting it again.
func TestTroubleWithTheFileIsNotTheCommandLinesFault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, words string
		code        int
		limit       string // of the shell that starts the command
		make        func(t *testing.T, path string)
	}{
		{"locked", "another process holds the database file", 75, "", lockFile},
		{"full", "the disk is full", 75, "ulimit -f 0; ", func(t *testing.T, path string) { put(t, path, "") }},
		{"no database", "the file is no SQLite database", 1, "", func(t *testing.T, path string) { put(t, path, strings.Repeat("no database ", 500)) }},
		{"no folder", "does not exist", 1, "", func(t *testing.T, path string) { _ = os.Remove(filepath.Dir(path)) }},
		{"a folder", "it is a directory", 1, "", func(t *testing.T, path string) { _ = os.Mkdir(path, 0o700) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "in", "stint.db")
			put(t, path, "")
			_ = os.Remove(path)
			tt.make(t, path)
			commands := onDatabase
			if tt.limit != "" {
				commands = onDatabase[:2] // the others write nothing
			}
			try := func(args []string) {
				out, code := troubled(t, tt.limit, append(slices.Clone(args), "--db", "sqlite:"+path))
				missing := tt.name == "no folder" && args[1] == "verify" // all is pending
				if !missing && (code != tt.code || !strings.Contains(out, tt.words) && !strings.Contains(out, "there is no file")) {
					t.Errorf("%v: exit code %d, want %d and %q:\n%s", args, code, tt.code, tt.words, out)
				}
			}
			if tt.name == "locked" { // each waits for the lock for three seconds, and leaves the file alone
				together(len(commands), func(i int) { try(commands[i]) })
				return
			}
			for _, args := range commands {
				try(args)
			}
		})
	}
}

// troubled runs the program with short waits for the database.
func troubled(t *testing.T, limit string, args []string) (out string, code int) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Error(err) // it may run beside the test
		return "", 0
	}
	cmd := exec.Command("sh", append([]string{"-c", limit + `exec "$0" "$@"`, path}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + cmd.Dir, "PATH=" + os.Getenv("PATH"), "STINT_TEST_WAITS=200ms"}
	text, _ := cmd.CombinedOutput() // how it ended is its exit code
	return string(text), cmd.ProcessState.ExitCode()
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lockFile holds a database as a process does that lets nobody else read it.
func lockFile(t *testing.T, path string) {
	t.Helper()
	from, err := store.SQLitePath(dbtest.Whole(t, store.SQLite))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, string(text))
	conn, err := dbtest.Connect(t, "sqlite:"+path).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	for _, sql := range []string{"pragma journal_mode = delete", "begin exclusive"} {
		if _, err := conn.ExecContext(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

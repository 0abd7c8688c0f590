package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/store"
)

// chain makes names/stint.db, a link to a link in a folder that is a link, which
// leads to real/data.db. That is not there.
func chain(t *testing.T) (names, real string) {
	t.Helper()
	dir := t.TempDir()
	names, real = filepath.Join(dir, "names"), filepath.Join(dir, "real")
	for _, path := range []string{names, real} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"names/stint.db": dir + "/folder/second.db", "folder": "real", "real/second.db": "../folder/data.db",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return names, real
}

// TestANewFileBehindLinksIsItsOwnersAlone, whichever command makes it; and all
// that stands beside it is beside the file, not beside a link.
func TestANewFileBehindLinksIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0") // serve ends when it has made everything
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	good := newScene(t, store.SQLite)
	for _, umask := range []string{"000", "022", "777"} {
		for command, files := range map[string][]string{
			"migrate up":                  {"data.db", "data.db.lock", "second.db"},
			"backup restore " + good.file: {"data.db", "second.db"},
			"serve --admin-addr '' --addr " + taken.Addr().String(): {"data.db", "data.db.lock", "data.db.server", "data.db.token", "second.db"},
		} {
			names, real := chain(t)
			cmd := exec.Command("sh", "-c", fmt.Sprintf("umask %s; exec stint %s", umask, command))
			cmd.Dir, cmd.Env = names, []string{"PATH=" + os.Getenv("PATH")}
			if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "address already in use") {
				t.Errorf("%s, umask %s: %v: %s", command, umask, err, out)
			}
			onlyThere(t, names, "stint.db")
			onlyThere(t, real, files...)
			for _, name := range slices.DeleteFunc(files, func(s string) bool { return s == "second.db" }) {
				if info, err := os.Stat(filepath.Join(real, name)); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s, umask %s: %s is %v, %v", command, umask, name, info, err)
				}
			}
		}
	}
}

// TestTheTokenBehindALinkIsFound by a client that names neither file nor token.
func TestTheTokenBehindALinkIsFound(t *testing.T) {
	t.Parallel()
	names, real := chain(t)
	if err := os.WriteFile(filepath.Join(real, "data.db.token"), []byte("stint_t_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("stint", "job", "list", "--server", "http://127.0.0.1:1")
	cmd.Dir, cmd.Env = names, []string{"PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err == nil || strings.Contains(string(out), "no token") {
		t.Errorf("%v: %s", err, out)
	}
}

package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/store"
)

// TestALogThatIsGoneIsToldByEveryCommand, before one of them opens the database:
// what is said then is the way to lose nothing.
func TestALogThatIsGoneIsToldByEveryCommand(t *testing.T) {
	t.Parallel()
	s := serveOn(t, store.SQLite)
	file := filepath.Join(t.TempDir(), "b")
	must(t, s.db, "backup", "create", file)
	id := s.enqueue()
	s.kill()
	path := strings.TrimPrefix(s.db, "sqlite:")
	if err := os.Rename(path+"-wal", file+".log"); err != nil {
		t.Fatal(err)
	}
	taken := httptest.NewServer(nil) // a build that serves nevertheless ends at once
	defer taken.Close()
	for _, args := range []string{
		"serve --admin-addr= --addr " + strings.TrimPrefix(taken.URL, "http://"), "migrate up", "migrate status", "migrate verify", "migrate plan",
		"token create --owner default --scopes admin", "token list --owner default", "backup create " + file + "2", "doctor",
	} {
		_, stderr, code := command(t, []string{"STINT_DB=" + s.db}, strings.Fields(args)...)
		if code != 1 || !strings.Contains(stderr, path+"-wal is gone") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d %q", args, code, stderr)
		}
	}
	onlyThere(t, filepath.Dir(path), "stint.db", "stint.db-shm", "stint.db.server", "stint.db.token")
	other := filepath.Join(t.TempDir(), "stint.db")
	for _, suffix := range []string{"", "-shm"} {
		text, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(other+suffix, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	must(t, "sqlite:"+other, "backup", "restore", file, "--force")
	must(t, "sqlite:"+other, "migrate", "verify")
	if err := os.Rename(file+".log", path+"-wal"); err != nil {
		t.Fatal(err)
	}
	s.start()
	if got := s.job(id).State; got != "pending" {
		t.Errorf("with the log back the job is %q", got)
	}
}

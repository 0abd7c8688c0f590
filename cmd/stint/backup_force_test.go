package main

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// A restore by force replaces a database: no backup, no pipe, no folder, no device.
func TestARestoreByForceReplacesDatabasesAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t, store.SQLite)
	kept := s.read(t)
	pipe, link := filepath.Join(s.dir, "pipe"), filepath.Join(s.dir, "link")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(s.file, link)); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		pipe: "is not a regular file", s.dir: "is not a regular file", s.file: "is the backup itself", link: "is the backup itself",
	} {
		_, stderr, code := command(t, []string{"STINT_DB=sqlite:" + path}, "backup", "restore", "--force", s.file)
		if code != 1 || !strings.Contains(stderr, says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d %q", path, code, stderr)
		}
	}
	left, err := os.ReadDir(s.dir)
	if err != nil || len(left) != 3 || !bytes.Equal(kept, s.read(t)) {
		t.Errorf("%v is left, %v; the backup has %d bytes, had %d", left, err, len(s.read(t)), len(kept))
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe is %v, %v", info, err)
	}
}

// The log of the database that is replaced must not become the new one's.
func TestForcedRestoreReplacesAStoppedDatabase(t *testing.T) {
	t.Parallel()
	s := serveOn(t, store.SQLite)
	file := filepath.Join(t.TempDir(), "b")
	id := s.enqueue()
	must(t, s.db, "backup", "create", file)
	later := s.enqueue()
	_, stderr, code := command(t, []string{"STINT_DB=" + s.db}, "backup", "restore", file, "--force")
	if code != 1 || !strings.Contains(stderr, "is in use by another process: stop the server first") {
		t.Errorf("beside the server: exit %d %q", code, stderr)
	}
	if got := s.job(later).ID; got != later {
		t.Errorf("the refused restore changed the database: %q", got)
	}
	s.kill()
	path := strings.TrimPrefix(s.db, "sqlite:")
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		t.Fatalf("the killed server left no log: the test shows nothing: %v", err)
	}
	must(t, s.db, "backup", "restore", file, "--force")
	onlyThere(t, filepath.Dir(path), "stint.db", "stint.db.server", "stint.db.token")
	s.start()
	if got := s.job(id).State; got != "pending" {
		t.Errorf("the job of the backup is %s", got)
	}
	if _, stderr, code := command(t, s.env(), "job", "show", later); code != 3 {
		t.Errorf("the job after the backup: exit %d %q", code, stderr)
	}
}

// A database that nobody can read is what a restore is for.
func TestForcedRestoreReplacesABrokenDatabase(t *testing.T) {
	t.Parallel()
	s := newScene(t, store.SQLite)
	path := strings.TrimPrefix(s.db, "sqlite:")
	x := strings.Repeat("x", 9000)
	for _, broken := range []string{liteHeader + x, liteHeader, ""} {
		for name, text := range map[string]string{path: broken, path + "-wal": x} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		must(t, s.db, "backup", "restore", s.file, "--force")
		must(t, s.db, "migrate", "verify")
	}
}

// liteHeader is how every SQLite database begins.
const liteHeader = "SQLite format 3\x00"

func TestForcedRestoreReplacesNothingOfOthers(t *testing.T) {
	t.Parallel()
	s := newScene(t, store.SQLite)
	db := func(name string, statements ...string) string {
		url := "sqlite:" + s.write(t, name, nil)
		for _, statement := range statements {
			dbtest.Plant(t, url, statement)
		}
		return url
	}
	killed := db("killed.db", "pragma journal_mode=wal", "create table a (x)")
	leaveLog(t, killed)
	for _, tt := range []struct{ url, says string }{
		{"sqlite:" + s.write(t, "notes.txt", []byte("notes")), "notes.txt is no SQLite database: it is not replaced; move it away"},
		{"sqlite:" + s.write(t, "x.db", []byte(strings.Repeat("x", 9000))), "is no SQLite database"},
		{db("rails.db", "create table schema_migrations (version text)", "create table b (x)", "create table a (x)"),
			"is a database of another program, with the tables a, b: it is not replaced; move it away"},
		{db("wal.db", "pragma journal_mode=wal", "create table a (x)"), "with the tables a:"},
		{killed, "with the tables a:"},
		{db("fresh.db"), ""},
		{db("begun.db", "create table schema_migrations (version text)"), ""},
		{db("near.db", "create table users (x)", "create table jobs (id text)", "create table schema_migrations (version text)"), "with the tables jobs, users:"},
		{db("older.db", "create table jobs (id text)", "create table schema_migrations (version text primary key, checksum text)"), ""},
		{db("odd.db", "create table a (x)", "pragma writable_schema = on; update sqlite_schema set sql = 'nonsense'"), ""},
	} {
		path := strings.TrimPrefix(tt.url, "sqlite:")
		before := filesOf(t, path)
		_, stderr, code := command(t, []string{"STINT_DB=" + tt.url}, "backup", "restore", "--force", s.file)
		after := filesOf(t, path)
		delete(before, path+"-shm") // memory that processes share, made of the log
		delete(after, path+"-shm")
		kept := maps.Equal(before, after)
		if refused := tt.says != ""; refused != (code == 1) || refused != kept || !strings.Contains(stderr, tt.says) {
			t.Errorf("%s: exit %d %q, kept %v; want %q", path, code, stderr, kept, tt.says)
		}
	}
}

// leaveLog leaves a database as a process that was killed does, with its log beside it.
func leaveLog(t *testing.T, url string) {
	t.Helper()
	db := dbtest.Connect(t, url)
	_, err := db.ExecContext(t.Context(), "insert into a values (1)")
	left := filesOf(t, strings.TrimPrefix(url, "sqlite:"))
	if err = errors.Join(err, db.Close()); err != nil || len(left) != 3 {
		t.Fatalf("%d files were left, %v", len(left), err)
	}
	for name, text := range left {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// filesOf are a database and what SQLite keeps beside it, by name.
func filesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		text, err := os.ReadFile(name)
		if err == nil {
			out[name] = string(text)
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return out
}

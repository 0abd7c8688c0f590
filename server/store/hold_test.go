package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestAnSQLiteFileHasOneServer, by whatever name it is called; commands work
// beside it, and the next server may come when it has gone.
func TestAnSQLiteFileHasOneServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "stint.db"), filepath.Join(dir, "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + path, Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		second, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + name, Serve: true})
		if !errors.Is(err, store.ErrServed) {
			t.Errorf("a second server: %v, %v", second, err)
		}
		if host, _ := os.Hostname(); err != nil && !strings.Contains(err.Error(), host) {
			t.Errorf("%q does not name the holder", err)
		}
	}
	beside := dbtest.Open(t, store.Config{URL: "sqlite:" + link})
	if err := beside.Ping(t.Context()); err != nil {
		t.Errorf("a command: %v", err)
	}
	s.Close()
	s.Close() // twice does no harm
	next, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + link, Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	next.Close()
}

// TestAHardLinkIsNotServed: the name beside has neither the log nor the lock.
func TestAHardLinkIsNotServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "stint.db"), filepath.Join(dir, "link.db")
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + path, Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + link, Serve: true}); err == nil || !strings.Contains(err.Error(), "has 2 names (hard links)") {
		t.Errorf("a server of the other name: %v", err)
	}
	for _, suffix := range []string{"-wal", ".server"} {
		if _, err := os.Stat(link + suffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the refused server left %s: %v", suffix, err)
		}
	}
}

// TestAStoreLeavesAnotherProgramsFileAlone: opening it would change its journal.
func TestAStoreLeavesAnotherProgramsFileAlone(t *testing.T) {
	t.Parallel()
	url := dbtest.Empty(t, store.SQLite)
	path, err := store.SQLitePath(url)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.CreateFile(path); err != nil {
		t.Fatal(err)
	}
	dbtest.Plant(t, url, "create table books (id integer)")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), store.Config{URL: url}); schema.Code(err) != schema.CodeForeign {
		t.Errorf("got %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was written to, %v", err)
	}
}

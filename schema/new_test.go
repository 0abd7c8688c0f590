package schema

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewWritesTheNextNumbersTwins(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, fixture(one, two))
	if err := os.Remove(filepath.Join(dir, "sqlite", two.name)); err != nil {
		t.Fatal(err)
	}
	got, err := New(dir, "add_notes")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		filepath.Join(dir, "postgres", "0003_add_notes.sql"),
		filepath.Join(dir, "sqlite", "0003_add_notes.sql"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err = load(os.DirFS(dir), Postgres)
	wantRefusal(t, err, CodeInvalidFile, "0003_add_notes.sql") // it is empty yet
}

func TestNewRefusesOtherNames(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, fixture(one))
	for _, name := range []string{"", "Add", "add-notes", "9lives", "../x", "a b"} {
		if paths, err := New(dir, name); err == nil {
			t.Errorf("%q: %v", name, paths)
		}
	}
	if _, err := New(t.TempDir(), "x"); err == nil {
		t.Error("a folder without engines was taken")
	}
}

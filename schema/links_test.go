package schema

import (
	"os"
	"path/filepath"
	"testing"
)

// linked makes a folder "real", which a folder "folder" leads to, and links by
// their names; dir is without links itself.
func linked(t *testing.T, links map[string]string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"real/deep", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestEveryNameOfAFileLeadsToOne, before the file is made and after.
func TestEveryNameOfAFileLeadsToOne(t *testing.T) {
	t.Parallel()
	dir := linked(t, map[string]string{
		"folder": "real", "deep": "real/deep", "relative": "real/stint.db", "second": "relative", "third": "other/../second",
		"real/inner": "stint.db", "other/up": "../folder/inner", "past": "deep/../stint.db", "round": "round",
	})
	if err := os.Symlink(dir+"/folder/stint.db", dir+"/absolute"); err != nil {
		t.Fatal(err)
	}
	names := []string{
		"real/stint.db", "folder/stint.db", "relative", "second", "third", "absolute", "real/inner",
		"folder/inner", "other/up", "past", "deep/../stint.db", "deep/.././inner",
	}
	for _, state := range []string{"missing", "there"} {
		for _, name := range names {
			if got, err := FilePath("sqlite:" + dir + "/" + name); err != nil || got != dir+"/real/stint.db" {
				t.Errorf("%s, the file is %s: %s, %v", name, state, got, err)
			}
		}
		if err := CreateFile(dir + "/real/stint.db"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"round", "none/stint.db", "real/stint.db/x"} { // nowhere: said when they are opened
		path, err := FilePath("sqlite:" + dir + "/" + name)
		if err != nil || CreateFile(path) == nil {
			t.Errorf("%s: %q %v", name, path, err)
		}
	}
}

func TestARelativeNameIsFollowedToo(t *testing.T) {
	dir := linked(t, map[string]string{"stint.db": "real/data.db"})
	t.Chdir(dir)
	for _, raw := range []string{"sqlite:stint.db", "sqlite:./stint.db", "sqlite:other/../stint.db"} {
		if got, err := FilePath(raw); err != nil || got != dir+"/real/data.db" {
			t.Errorf("%s: %s, %v", raw, got, err)
		}
	}
}

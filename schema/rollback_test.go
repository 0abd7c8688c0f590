package schema

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAnInterruptedRollbackJournalIsPlayedBack: a process killed while it puts
// a new file into WAL mode leaves a journal that only a writer may roll back.
func TestAnInterruptedRollbackJournalIsPlayedBack(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(Options) error{
		"status":  func(o Options) error { _, err := Status(t.Context(), o); return err },
		"migrate": func(o Options) error { _, err := Migrate(t.Context(), o); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := sqliteDatabase(t).options(one)
			o.URL = "sqlite:" + interrupted(t)
			if err := call(o); err != nil {
				t.Error(err)
			}
		})
	}
}

// interrupted is a copy of a database file in the middle of a transaction that
// has already written to it, with its journal.
func interrupted(t *testing.T) string {
	t.Helper()
	db := sqliteDatabase(t)
	path, err := FilePath(db.url)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	db.exec(t, "create table schema_migrations (version text primary key, checksum text)")
	db.exec(t, "create table filler (x text)")
	db.exec(t, "pragma cache_size = 2")
	db.exec(t, "begin immediate")
	db.exec(t, "insert into filler with recursive n(i) as (select 1 union all select i + 1 from n where i < 50) select hex(randomblob(2000)) from n")
	copied := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-journal"} {
		data, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(copied+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db.exec(t, "rollback")
	return copied
}

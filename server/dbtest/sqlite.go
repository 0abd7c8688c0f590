package dbtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// sqliteTemplate is the bytes of a migrated, empty database.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "stint-template-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "template.db")
	if err := migrate(context.Background(), "sqlite:"+path); err != nil {
		return nil, err
	}
	if err := settle(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// settle writes the log into the file, so that the file is all there is.
func settle(path string) error {
	db, err := connect("sqlite:" + path)
	if err != nil {
		return err
	}
	_, err = db.Exec("pragma wal_checkpoint(truncate)")
	return errors.Join(err, db.Close())
}

// copyTemplate names a migrated file that is gone with the test.
func copyTemplate(t *testing.T) string {
	t.Helper()
	template, err := sqliteTemplate()
	if err != nil {
		t.Fatalf("migrate the template: %v", err)
	}
	path := filepath.Join(t.TempDir(), "stint.db")
	if err := os.WriteFile(path, template, 0o600); err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + path
}

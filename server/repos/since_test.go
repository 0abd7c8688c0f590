package repos

import (
	"path/filepath"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
)

// namesSince, told by a name so that a migration that moves is seen.
func TestOldNamesOfRepositoriesCameWithTheirMigration(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob(filepath.Join(dbtest.Root(t), "schema", "postgres", namesSince+"_repo_names.sql"))
	if err != nil || len(found) != 1 {
		t.Errorf("no migration %s_repo_names: %v, %v", namesSince, found, err)
	}
}

package plans

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

var createIndex = regexp.MustCompile(`(?m)^create index (\w+) on .*;$`)

// pageIndexes are the statements of the migration of proposals' pages, each with
// the name of its index.
func pageIndexes(t *testing.T, engine string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "schema", engine, "0003_proposal_pages.sql"))
	made := createIndex.FindAllStringSubmatch(string(text), -1)
	if err != nil || len(made) != 5 {
		t.Fatalf("%d indexes in the migration, %v", len(made), err)
	}
	return made
}

// refuseWithoutIndexes: the gate is only worth something if it fails where the
// migration of the pages is missing. Every statement that pages or counts
// proposals is then refused.
func refuseWithoutIndexes(t *testing.T, s *store.Store, all []statement) {
	t.Helper()
	for _, m := range pageIndexes(t, s.Engine()) {
		dbtest.SQL(t, s, "drop index "+m[1])
	}
	g, asked := newGate(t, s), 0
	for _, st := range all {
		if !strings.HasPrefix(st.name, "ProposalPage") && !strings.HasPrefix(st.name, "ProposalWalk") && st.name != "RepoGetCounted" {
			continue
		}
		asked++
		if faults, err := g.faults(t.Context(), st); err != nil || len(faults) == 0 {
			t.Errorf("%s passes without its index: %v", st.name, err)
		}
	}
	if asked != 7 {
		t.Errorf("asked for %d statements", asked)
	}
}

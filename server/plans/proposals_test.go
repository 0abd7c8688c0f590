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

// The gate is only worth something if it fails where the migration of the pages
// is missing: every statement that pages or counts proposals is then refused.
func TestGateRefusesProposalPagesWithoutTheirMigration(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		fill(t, s)
		for _, m := range pageIndexes(t, s.Engine()) {
			dbtest.SQL(t, s, "drop index "+m[1])
		}
		dbtest.SQL(t, s, "analyze")
		g := openGate(t, s)
		asked := 0
		for _, st := range statements(t, s.Engine()) {
			if !strings.HasPrefix(st.name, "ProposalPage") && !strings.HasPrefix(st.name, "ProposalWalk") && st.name != "RepoGetCounted" {
				continue
			}
			asked++
			if faults, err := g.judge(t.Context(), st); err != nil || len(faults) == 0 {
				t.Errorf("%s passes without its index: %v", st.name, err)
			}
		}
		if asked != 7 {
			t.Errorf("asked for %d statements", asked)
		}
	})
}

// Each page of proposals reads the index that was made for its filter, whole
// filter and position in the index condition, with no filter left over.
func TestEachProposalFilterReadsItsOwnIndex(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"ProposalPage": "proposals_by_created", "ProposalPageByState": "proposals_by_state_created",
		"ProposalPageByStream": "proposals_by_stream_created", "ProposalPageByStateStream": "proposals_by_state_stream_created",
		"ProposalPageByAuthor": "proposals_by_author_created", "ProposalWalkByAuthor": "proposals_by_author_created",
	}
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		fill(t, s)
		dbtest.SQL(t, s, "analyze")
		for _, st := range statements(t, s.Engine()) {
			if want[st.name] == "" {
				continue
			}
			if read := indexesRead(t, s, st); !strings.Contains(read, " "+want[st.name]+" ") {
				t.Errorf("%s reads%s", st.name, read)
			}
		}
	})
}

// indexesRead are the names of the indexes in a statement's plan.
func indexesRead(t *testing.T, s *store.Store, st statement) string {
	t.Helper()
	if s.Engine() == store.SQLite {
		lines, err := newLiteGate(t, s).plan(t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		return " " + strings.Join(lines, " ")
	}
	plan, err := newPgGate(t, s).plan(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	names := " "
	plan.walk(func(n node) { names += n.Index + " " })
	return names
}

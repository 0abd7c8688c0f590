package plans

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// gate checks the plans of one engine.
type gate interface {
	// faults names what is wrong with the plan of a statement.
	faults(ctx context.Context, s statement) (faults []string, err error)
	// reads names the indexes of its plan.
	reads(ctx context.Context, s statement) ([]string, error)
	// covered reports whether an index alone answers for one of its tables.
	covered(t *testing.T, s statement) bool
}

// newGate checks by the schema and the statistics as they are now: SQLite makes
// plans of what its connection read when it was opened.
func newGate(t *testing.T, s *store.Store) gate {
	t.Helper()
	if s.Engine() == store.SQLite {
		return newLiteGate(t, s)
	}
	return newPgGate(t, s)
}

// Every generated statement goes through the gate, lists and claims above all.
// All checks share one database, since filling it takes long.
func TestPlansOfEveryStatement(t *testing.T) {
	t.Parallel()
	dbtest.EachFresh(t, func(t *testing.T, s *store.Store) {
		all := statements(t, s.Engine())
		if s.Engine() == store.Postgres { // SQLite has no statistics: nothing asks for them
			fill(t, s)
			t.Run("a statement without statistics reads in index order", func(t *testing.T) {
				pass(t, newGate(t, s), slices.DeleteFunc(slices.Clone(all), func(st statement) bool { return !withoutStatistics[st.name] }))
			})
			dbtest.SQL(t, s, "analyze")
		}
		g := newGate(t, s)
		t.Run("every statement reads in index order", func(t *testing.T) { pass(t, g, all) })
		if s.Engine() == store.Postgres {
			t.Run("the planner's own choice reads no whole table", func(t *testing.T) { chooseIndexes(t, s, all) })
		}
		t.Run("the gate refuses what it is there for", func(t *testing.T) { refusePlanted(t, s.Engine(), g) })
		t.Run("residual excuses its column alone", func(t *testing.T) { refuseBesideResidual(t, g, all) })
		t.Run("a claim seeks once per probe", func(t *testing.T) { seekOncePerProbe(t, g, all) })
		t.Run("each index is read by the statements that are said to", func(t *testing.T) { readIndexes(t, s.Engine(), g, all) })
		if s.Engine() == store.Postgres {
			planAtMoments(t, s, all)
		}
		t.Run("pages of proposals are refused without their migration", func(t *testing.T) { refuseWithoutIndexes(t, s, all) })
	})
}

// withoutStatistics are the statements that would read a backlog if PostgreSQL
// had to guess, as in the first minute after a table filled up; of the others it
// may read what one owner or one key has.
var withoutStatistics = map[string]bool{"JobClaim": true, "JobListByIDs": true, "JobCompleteMany": true, "RunSucceedMany": true, "RunListByIDs": true, "ProposalListByIDs": true}

// pass takes statements through the gate.
func pass(t *testing.T, g gate, all []statement) {
	t.Helper()
	for _, st := range all {
		faults, err := g.faults(t.Context(), st)
		if err != nil {
			t.Errorf("%s: %v", st.name, err)
		}
		for _, fault := range faults {
			t.Errorf("%s: %s", st.name, fault)
		}
	}
}

// wholeTables are the statements that may read all rows of a table that grows:
// a large share of them is what they count.
var wholeTables = map[string]bool{"RepoGetCounted": true}

// chooseIndexes looks at generic plans as sessions have them, with every way to
// read a table allowed that they allow: the statistics of one moment must not lead
// to a plan that stays while the table grows.
func chooseIndexes(t *testing.T, s *store.Store, all []statement) {
	t.Helper()
	g := newPgGate(t, s)
	if _, err := g.conn.Exec(t.Context(), "reset all; set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off"); err != nil {
		t.Fatal(err)
	}
	for _, st := range all {
		plan, err := g.plan(t.Context(), st)
		if err != nil {
			t.Fatal(err)
		}
		plan.walk(func(n node) {
			table := cmp.Or(n.Table, g.indexes[n.Index].table) // a bitmap of an index names no table
			if uneven[table] == "" || wholeTables[st.name] {
				return
			}
			if n.Type == "Seq Scan" || len(g.behindGap(n)) > 0 {
				t.Errorf("%s reads all of %s, filter %s", st.name, n, n.Filter)
			}
		})
	}
}

// seekOncePerProbe: each probe of a claim is one seek by its whole key, in the
// order of probes.
func seekOncePerProbe(t *testing.T, g gate, all []statement) {
	t.Helper()
	claim := all[slices.IndexFunc(all, func(st statement) bool { return st.name == "JobClaim" })]
	switch g := g.(type) {
	case *liteGate:
		lines, err := g.plan(t.Context(), claim)
		first := slices.Index(lines, "SCAN t VIRTUAL TABLE INDEX 1:")
		second := slices.Index(lines, "SEARCH j USING INDEX jobs_claim (owner_id=? AND kind=? AND priority=? AND run_at>? AND run_at<?)")
		if err != nil || first < 0 || second != first+1 {
			t.Errorf("the probes do not lead: %q, %v", lines, err)
		}
	case *pgGate:
		plan, err := g.plan(t.Context(), claim)
		if err != nil {
			t.Fatal(err)
		}
		probes := plan.byIndex("jobs_claim")
		for _, column := range []string{"owner_id = ", "kind = ", "priority = ", "run_at <= "} {
			if len(probes) != 1 || !strings.Contains(probes[0].Cond, column) {
				t.Errorf("%sis not in the index condition of one scan of jobs_claim: %v", column, probes)
			}
		}
	}
}

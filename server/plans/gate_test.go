package plans

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// gate judges the plans of one engine.
type gate interface {
	judge(ctx context.Context, s statement) (faults []string, err error)
}

func newGate(t *testing.T, s *store.Store) gate {
	t.Helper()
	fill(t, s)
	return openGate(t, s)
}

// openGate judges by the schema and the statistics as they are now: SQLite makes
// plans of what its connection read when it was opened.
func openGate(t *testing.T, s *store.Store) gate {
	t.Helper()
	if s.Engine() == store.SQLite {
		return newLiteGate(t, s)
	}
	return newPgGate(t, s)
}

// fill gives the planner tables that are worth an index: with empty ones every
// plan costs the same. Owners, states, kinds and keys are uneven.
func fill(t *testing.T, s *store.Store) {
	t.Helper()
	owners := []string{dbtest.Owner(t, s, "ada").ID, dbtest.Owner(t, s, "bob").ID}
	numbers, at, n := "generate_series(1, 6000) i", "timestamptz 'epoch' + i * interval '1 second'", "i::text"
	if s.Engine() == store.SQLite {
		numbers, at, n = "(with recursive n(i) as (select 1 union all select i + 1 from n where i < 600) select i from n)", "i * 1000000", "i"
	}
	jobs := `insert into jobs (id, owner_id, kind, state, key, payload, priority, run_at, attempt, max_attempts, lease_token, claimed_by, lease_expires_at, created_at, updated_at, finished_at)
		select 'job_' || N, case when i % 3 = 0 then '` + owners[0] + `' else '` + owners[1] + `' end,
			'kind' || cast(i % 7 as text), case when i % 10 = 0 then 'pending' when i % 10 = 1 then 'claimed' else 'succeeded' end,
			'key' || N, '{}', 1 + i % 4, AT, 1, 5,
			case when i % 10 = 1 then 'token' end, case when i % 10 = 1 then 'w' end, case when i % 10 = 1 then AT end,
			AT, AT, case when i % 10 > 1 then AT end
		from FROM`
	runs := `insert into runs (id, owner_id, kind, job_id, status, attempt, worker, token_hash, scheduler_managed, origin, event_seq, created_at, started_at, completed_at)
		select 'run_' || N, j.owner_id, 'job', j.id, case when j.state = 'claimed' then 'running' else 'succeeded' end, 1, 'w', 'hash' || N,
			` + map[string]string{store.SQLite: "0", store.Postgres: "false"}[s.Engine()] + `, 'live', 0, AT, AT, case when j.state <> 'claimed' then AT end
		from FROM join jobs j on j.id = 'job_' || N where j.state <> 'pending'`
	tokens := `insert into tokens (id, owner_id, name, hash, scopes, created_at)
		select 'tok_' || N, '` + owners[0] + `', 't', 'hash' || N, '[]', AT from FROM where i < 500`
	links := `insert into login_links (hash, owner_id, name, scopes, session_seconds, created_at, expires_at)
		select 'hash' || N, '` + owners[0] + `', 't', '[]', 60, AT, AT from FROM where i < 500`
	repos := `insert into repos (id, owner_id, forge, host, namespace, name, created_at, updated_at)
		select 'repo_' || N, '` + owners[0] + `', 'github', 'github.com', 'acme', 'repo' || N, AT, AT from FROM where i < 500`
	more := `insert into owners (id, name, created_at) select 'own_' || N, 'owner' || N, AT from FROM where i < 500`
	kinds := `insert into job_kinds (owner_id, name, lease_seconds, max_attempts, backoff_base_seconds, backoff_cap_seconds, version, created_at, updated_at)
		select '` + owners[0] + `', 'kind' || N, 60, 5, 5, 9, 1, AT, AT from FROM where i < 500`
	proposals := `insert into proposals (id, owner_id, repo_id, stream, head, title, author, state, run_id, version, created_at, updated_at, closed_at)
		select 'prop_' || N, r.owner_id, r.id, 'stream' || cast(i % 3 as text), 'head' || N, 't', 'author' || cast(i % 5 as text),
			case when i % 10 = 0 then 'open' when i % 10 = 1 then 'closed' else 'merged' end, 'run_' || N, 2, AT, AT, case when i % 10 > 0 then AT end
		from FROM join repos r on r.id = 'repo_' || cast(i % 4 + 1 as text)`
	transitions := `insert into proposal_transitions (owner_id, proposal_id, version, to_state, actor, entered_at)
		select p.owner_id, p.id, 1, 'open', 'ada', AT from FROM join proposals p on p.id = 'prop_' || N`
	keys := `insert into idempotency_keys (owner_id, principal, route, key, fingerprint, status, body, created_at)
		select '` + owners[0] + `', 'tok', 'POST /v1/jobs', 'key' || N, 'f', 201, '{}', case when i % 10 > 0 then AT end from FROM`
	workers := `insert into workers (owner_id, name, first_seen_at, last_seen_at) select '` + owners[0] + `', 'w' || N, AT, AT from FROM`
	for _, sql := range []string{workers, jobs, runs, tokens, links, repos, more, kinds, proposals, transitions, keys} {
		dbtest.SQL(t, s, strings.NewReplacer("FROM", numbers, "AT", at, "|| N", "|| "+n).Replace(sql))
	}
}

// Every generated statement goes through the gate, lists and claims above all:
// none reads a whole table, none sorts, and none reads rows that its index
// should have left out.
func TestEveryStatementReadsInIndexOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		g := newGate(t, s)
		// SQLite has no statistics unless somebody asks for them, PostgreSQL none
		// in the first minute after a table filled up.
		pass(t, s, g, func(st statement) bool { return s.Engine() == store.SQLite || withoutStatistics[st.name] })
		dbtest.SQL(t, s, "analyze")
		pass(t, s, g, func(statement) bool { return true })
	})
}

// withoutStatistics are the statements that would read a backlog if PostgreSQL
// had to guess; of the others it may read what one owner or one key has.
var withoutStatistics = map[string]bool{"JobClaim": true, "JobListByIDs": true, "RunListByIDs": true, "ProposalListByIDs": true}

// pass takes the statements of the engine that asked picks through its gate.
func pass(t *testing.T, s *store.Store, g gate, asked func(statement) bool) {
	t.Helper()
	for _, st := range statements(t, s.Engine()) {
		if !asked(st) {
			continue
		}
		faults, err := g.judge(t.Context(), st)
		if err != nil {
			t.Errorf("%s: %v", st.name, err)
		}
		for _, fault := range faults {
			t.Errorf("%s: %s", st.name, fault)
		}
	}
}

// Each probe of a claim is one seek by its whole key, in the order of probes.
func TestClaimSeeksOncePerProbe(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		fill(t, s)
		dbtest.SQL(t, s, "analyze")
		all := statements(t, s.Engine())
		claim := all[slices.IndexFunc(all, func(st statement) bool { return st.name == "JobClaim" })]
		if s.Engine() == store.SQLite {
			lines, err := newLiteGate(t, s).plan(t.Context(), claim)
			first := slices.Index(lines, "SCAN t VIRTUAL TABLE INDEX 1:")
			second := slices.Index(lines, "SEARCH j USING INDEX jobs_claim (owner_id=? AND kind=? AND priority=? AND run_at>? AND run_at<?)")
			if err != nil || first < 0 || second != first+1 {
				t.Errorf("the probes do not lead: %q, %v", lines, err)
			}
			return
		}
		plan, err := newPgGate(t, s).plan(t.Context(), claim)
		if err != nil {
			t.Fatal(err)
		}
		probes := 0
		plan.walk(func(n node) {
			if n.Index != "jobs_claim" {
				return
			}
			probes++
			for _, column := range []string{"owner_id = ", "kind = ", "priority = ", "run_at <= "} {
				if !strings.Contains(n.Cond, column) {
					t.Errorf("%s is not in the index condition %s", column, n.Cond)
				}
			}
		})
		if probes != 1 {
			t.Errorf("%d scans of jobs_claim", probes)
		}
	})
}

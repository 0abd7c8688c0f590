package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/metrics"
	"github.com/stint-run/stint/server/store"
)

// measured is what a pass of the loop hands over, and how many statements it ran.
func measured(t *testing.T, s *store.Store) (found metrics.Queue, statements int64) {
	t.Helper()
	ctx, stats := store.WithStats(t.Context())
	loop := jobs.FiguresLoop(func(q metrics.Queue) { found = q })
	if n, err := loop.Run(ctx, s); err != nil || n != len(found.Kinds) {
		t.Fatalf("measured %d kinds of %d: %v", n, len(found.Kinds), err)
	}
	return found, stats.Statements()
}

// plantDue enqueues n jobs of a kind and priority, the first due for age at T0.
func plantDue(t *testing.T, s *store.Store, owner, kind string, priority, n int, age time.Duration) {
	t.Helper()
	numbers, at := "generate_series(1, $5::int) i", "to_timestamp($6::float8 / 1000000)"
	if s.Engine() == store.SQLite {
		numbers, at = "(with recursive n(i) as (select 1 union all select i + 1 from n where i < $5) select i from n)", "$6"
	}
	text := "cast($3 as text)"
	dbtest.SQL(t, s, strings.NewReplacer("NUMBERS", numbers, "AT", at, "KIND", text).Replace(
		`insert into jobs (id, owner_id, kind, state, payload, priority, run_at, attempt, max_attempts, created_at, updated_at)
		select cast($1 as text) || cast(i as text), cast($2 as text), KIND, 'pending', '{}', cast($4 as integer), AT, 0, 5, AT, AT from NUMBERS`),
		fmt.Sprint("job_", owner, kind, priority, age), owner, kind, priority, n, dbtest.T0.Add(-age).UnixMicro())
}

// plantKinds registers kinds a1 to an, later than every other.
func plantKinds(t *testing.T, s *store.Store, owner string, n int) {
	t.Helper()
	numbers, late := fmt.Sprintf("generate_series(1, %d) i", n), "to_timestamp(4000000000)"
	if s.Engine() == store.SQLite {
		numbers, late = fmt.Sprintf("(with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) select i from n)", n), "4000000000000000"
	}
	dbtest.SQL(t, s, `insert into job_kinds (owner_id, name, lease_seconds, max_attempts, backoff_base_seconds, backoff_cap_seconds, version, created_at, updated_at)
		select '`+owner+`', 'a' || cast(i as text), 60, 5, 5, 9, 1, `+late+`, `+late+` from `+numbers)
}

func TestQueueFiguresCountWhatIsDueByKind(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		ada, bob := dbtest.Owner(t, s, "ada").ID, dbtest.Owner(t, s, "bob").ID
		plantDue(t, s, ada, "review", 1, 2, 3*time.Second)
		plantDue(t, s, ada, "review", 4, 3, 90*time.Second)
		plantDue(t, s, bob, "review", 4, 1, 10*time.Second)
		plantDue(t, s, bob, "sync", 3, metrics.MaxDue+1, time.Second)
		plantDue(t, s, bob, "sync", 2, 7, -time.Second) // not yet due
		got, _ := measured(t, s)
		want := map[string]metrics.Backlog{
			"review": {Count: 6, Oldest: 90 * time.Second}, "sync": {Count: metrics.MaxDue, Oldest: time.Second}, "implement": {}, "discover": {},
		}
		have := map[string]metrics.Backlog{}
		for name, kind := range got.Kinds {
			have[name] = kind.Due
		}
		if fmt.Sprint(have) != fmt.Sprint(want) || got.Cut || got.Overdue != (metrics.Backlog{}) {
			t.Errorf("found %+v, want the kinds %v", got, want)
		}
	})
}

func TestALookAtManyKindsIsAFewStatements(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		ada := dbtest.Owner(t, s, "ada").ID
		plantKinds(t, s, ada, 1000)
		plantDue(t, s, ada, "review", 3, 1, time.Second)
		plantDue(t, s, ada, "a999", 3, 3, time.Second)
		got, statements := measured(t, s)
		if len(got.Kinds) != 1004 || got.Kinds["a999"].Due.Count != 3 || !got.Kinds["review"].Registered.Before(got.Kinds["a999"].Registered) {
			t.Errorf("%d kinds, review %+v, a999 %+v", len(got.Kinds), got.Kinds["review"], got.Kinds["a999"])
		}
		if pages := int64(5); statements > 3*pages+1 {
			t.Errorf("a look ran %d statements for %d pages of kinds", statements, pages)
		}
	})
}

// TestQueueFiguresWithoutAKindBehindAPage: before the first owner there is no
// kind at all, and a full page may be the last one.
func TestQueueFiguresWithoutAKindBehindAPage(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		if got, _ := measured(t, s); len(got.Kinds) > 0 {
			t.Errorf("without an owner: %+v", got)
		}
		ada := dbtest.Owner(t, s, "ada").ID
		plantKinds(t, s, ada, jobs.KindsPageForTest-dbtest.Get[int](t, s, "select count(*) from job_kinds"))
		if got, _ := measured(t, s); len(got.Kinds) != jobs.KindsPageForTest {
			t.Errorf("with a full page of kinds: %d", len(got.Kinds))
		}
	})
}

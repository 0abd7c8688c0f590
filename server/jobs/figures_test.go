package jobs_test

import (
	"fmt"
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

// plantDue writes n jobs of a kind and priority, the first of them due for age.
func (d *fixture) plantDue(n int, kind string, priority int, age time.Duration) {
	d.Helper()
	plantRows(d, n, row{kind, jobs.Pending, priority, d.Now.Add(-age - time.Microsecond)})
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
	eachWhole(t, func(ada *fixture) {
		dbtest.Freeze(ada.Store)
		bob := newFixture(ada.T, ada.Store)
		ada.plantDue(2, "review", 1, 3*time.Second)
		ada.plantDue(3, "review", 4, 90*time.Second)
		bob.plantDue(1, "review", 4, 10*time.Second)
		bob.plantDue(metrics.MaxDue+1, "sync", 3, time.Second)
		bob.plantDue(7, "sync", 2, -time.Second) // not yet due
		got, _ := measured(ada.T, ada.Store)
		want := map[string]metrics.Backlog{
			"review": {Count: 6, Oldest: 90 * time.Second}, "sync": {Count: metrics.MaxDue, Oldest: time.Second}, "implement": {}, "discover": {},
		}
		have := map[string]metrics.Backlog{}
		for name, kind := range got.Kinds {
			have[name] = kind.Due
		}
		if fmt.Sprint(have) != fmt.Sprint(want) || got.Cut || got.Overdue != (metrics.Backlog{}) {
			ada.Errorf("found %+v, want the kinds %v", got, want)
		}
	})
}

func TestQueueFiguresCountOverdueLeasesOfAllOwners(t *testing.T) {
	eachWhole(t, func(ada *fixture) {
		clock := dbtest.Freeze(ada.Store)
		bob := newFixture(ada.T, ada.Store)
		for _, seconds := range []int64{10, 20, 90} {
			bob.enqueue(jobs.EnqueueIn{Kind: "review"})
			bob.claimIn(jobs.ClaimIn{Kinds: []string{"review"}, LeaseSeconds: &seconds})
		}
		ada.held(jobs.EnqueueIn{}) // for a minute
		clock.Advance(80 * time.Second)
		got, _ := measured(ada.T, ada.Store)
		if want := (metrics.Backlog{Count: 3, Oldest: 70 * time.Second}); got.Overdue != want {
			ada.Errorf("overdue are %+v, want %+v", got.Overdue, want)
		}
	})
}

func TestALookAtManyKindsIsAFewStatements(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		dbtest.Freeze(d.Store)
		plantKinds(d.T, d.Store, d.Owner, 1000)
		d.plantDue(1, "review", 3, time.Second)
		d.plantDue(3, "a999", 3, time.Second)
		got, statements := measured(d.T, d.Store)
		if len(got.Kinds) != 1004 || got.Kinds["a999"].Due.Count != 3 || !got.Kinds["review"].Registered.Before(got.Kinds["a999"].Registered) {
			d.Errorf("%d kinds, review %+v, a999 %+v", len(got.Kinds), got.Kinds["review"], got.Kinds["a999"])
		}
		if pages := int64(5); statements > 3*pages+1 {
			d.Errorf("a look ran %d statements for %d pages of kinds", statements, pages)
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

//go:build soak

package jobs_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

// eachSoak is each with one engine after the other: each wants the machine.
func eachSoak(t *testing.T, fn func(d *fixture)) {
	t.Helper()
	for _, engine := range []string{store.Postgres, store.SQLite} {
		t.Run(engine, func(t *testing.T) {
			s := dbtest.Open(t, storeOf(t, engine))
			fn(newFixture(t, s))
		})
	}
}

// The claim's budget with 100,000 of everything.
func TestSoakClaimCostWithAHundredThousand(t *testing.T) {
	eachSoak(t, func(d *fixture) { flat(d, measure(d, 100_000), 2) })
}

// With a million pending, then a million finished beside them.
func TestSoakClaimCostWithAMillion(t *testing.T) {
	eachSoak(t, func(d *fixture) {
		in := jobs.ClaimIn{Kinds: []string{"build"}, Limit: 1}
		costs := map[string]claimCost{}
		from := d.Now
		plantFor(d, 1000, "few", row{"build", jobs.Pending, 3, from})
		d.Pass(time.Hour)
		costs["1,000 pending"] = d.cost(in)
		plantFor(d, 999_000, "many", row{"build", jobs.Pending, 3, from.Add(time.Millisecond)})
		costs["1,000,000 pending, no statistics"] = d.cost(in)
		dbtest.SQL(d.T, d.Store, "analyze")
		costs["1,000,000 pending"] = d.cost(in)
		plantFor(d, 1_000_000, "done", row{"build", jobs.Succeeded, 3, from})
		costs["1,000,000 finished beside them"] = d.cost(in)
		flat(d, costs, 2)
	})
}

// claims claims n jobs one by one, a millisecond apart on the queue's clock, and
// returns how many a second.
func claims(d *fixture, in jobs.ClaimIn, n int) float64 {
	d.Helper()
	start := time.Now()
	for range n {
		d.Pass(time.Millisecond)
		if got := d.claimIn(in); len(got) != 1 {
			d.Fatalf("claimed %d", len(got))
		}
	}
	return float64(n) / time.Since(start).Seconds()
}

// PRF-01: while a foreign transaction pins every dead row, 30,000 claims later
// a claim still runs at 70 % of the fresh rate or more.
func TestSoakClaimRateUnderAForeignSnapshot(t *testing.T) {
	eachSoak(t, func(d *fixture) {
		plant(d, 50_000, "build", jobs.Pending, d.Now)
		spread(d)
		dbtest.SQL(d.T, d.Store, "vacuum")
		dbtest.SQL(d.T, d.Store, "analyze")
		d.Pass(time.Hour)
		d.floors = jobs.NewFloors()
		in := jobs.ClaimIn{Kinds: []string{"build"}, Limit: 1}
		claims(d, in, 500) // warm-up
		fresh := claims(d, in, 2000)
		before := d.cost(in)
		release := pin(d)
		defer release()
		for range 300 {
			if got := d.claimIn(jobs.ClaimIn{Limit: 100}); len(got) != 100 {
				d.Fatalf("claimed %d", len(got))
			}
		}
		pinned := claims(d, in, 2000)
		after := d.cost(in)
		d.Logf("fresh %.0f/s at %d buffers, pinned %.0f/s at %d buffers: %.0f %%", fresh, before.all, pinned, after.all, 100*pinned/fresh)
		if pinned < 0.7*fresh {
			d.Errorf("%.0f claims a second under the snapshot, %.0f before it: less than 70 %%", pinned, fresh)
		}
		d.floors = nil
		without := claims(d, in, 200)
		d.Logf("pinned and without floors %.0f/s", without)
	})
}

// The figures of docs/adr/0004: buffers of a claim's read by three indexes, with
// 100,000 pending of one kind and one of a rare kind behind them.
func TestSoakClaimIndexAgainstTwoOthers(t *testing.T) {
	s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)}) // its indexes are dropped
	d := newFixture(t, s)
	plant(d, 100_000, "build", jobs.Pending, d.Now)
	plant(d, 1, "rare", jobs.Pending, d.Now.Add(time.Minute))
	plantFor(d, 100_000, "later", row{"build", jobs.Pending, 1, d.Now.Add(24 * time.Hour)})
	dbtest.SQL(t, s, "drop index jobs_claim, jobs_by_created, jobs_by_state, jobs_live_key")
	conn, _ := pgConn(t, s)
	due := "and coalesce(waiting_for, state) = 'pending' and run_at <= timestamptz '" + d.Now.Add(time.Hour).String() + "'"
	one := "select id from jobs where owner_id = '" + d.Owner + "' " + due
	for _, ix := range []struct {
		columns string
		queries map[string]string
	}{
		{"created_at", map[string]string{
			"any kind":                      one + " order by created_at limit 1",
			"rare kind":                     one + " and kind = 'rare' order by created_at limit 1",
			"by priority first, both kinds": one + " and kind in ('build', 'rare') order by priority, created_at limit 1",
		}},
		{"kind, created_at", map[string]string{
			"one kind":                      one + " and kind = 'build' order by created_at limit 1",
			"rare kind":                     one + " and kind = 'rare' order by created_at limit 1",
			"by priority first, both kinds": one + " and kind in ('build', 'rare') order by priority, created_at limit 1",
			"one kind, priority 1 not due":  one + " and kind = 'build' and priority = 1 order by created_at limit 1",
		}},
		{"owner_id, kind, priority, run_at, id", map[string]string{
			"one probe":          one + " and kind = 'build' and priority = 3 order by run_at, id limit 1",
			"rare kind":          one + " and kind = 'rare' and priority = 3 order by run_at, id limit 1",
			"priority 1 not due": one + " and kind = 'build' and priority = 1 order by run_at, id limit 1",
		}},
	} {
		dbtest.SQL(t, s, "create index tried on jobs ("+ix.columns+") where coalesce(waiting_for, state) = 'pending'")
		dbtest.SQL(t, s, "analyze jobs")
		for name, query := range ix.queries {
			var out int
			err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), "set local enable_seqscan = off"); err != nil {
					return err
				}
				_, out = explainedBuffers(d, tx, "explain (analyze, buffers, timing off, format json) "+query+" for update skip locked")
				return nil
			})
			t.Logf("(%s): %-32s %6d buffers, %v", ix.columns, name, out, err)
		}
		dbtest.SQL(t, s, "drop index tried")
	}
}

// With the pages as full as they are made, heartbeats of one holder after
// another stay heap-only.
func TestSoakHeartbeatsStayHeapOnly(t *testing.T) {
	s := dbtest.Open(t, storeOf(t, store.Postgres))
	d := newFixture(t, s)
	hot, total := heartbeats(t, d, 50)
	t.Logf("%d of %d heartbeats were heap-only", hot, total)
	if hot*100 < total*95 {
		t.Error("fewer than 95 %")
	}
}

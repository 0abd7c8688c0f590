package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

// spread moves planted jobs apart, a millisecond each.
func spread(d *fixture) {
	d.Helper()
	dbtest.SQL(d.T, d.Store, map[string]string{
		store.Postgres: "update jobs set run_at = run_at + cast(right(id, 8) as bigint) * interval '1 millisecond'",
		store.SQLite:   "update jobs set run_at = run_at + cast(substr(id, -8) as integer) * 1000",
	}[d.Store.Engine()])
}

// pin holds a snapshot of now until the test ends, or until it is released.
func pin(d *fixture) (release func()) {
	d.Helper()
	conn, err := dbtest.DB(d.T, d.Store).Conn(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	begin := map[string]string{store.Postgres: "begin isolation level repeatable read", store.SQLite: "begin deferred"}[d.Store.Engine()]
	for _, sql := range []string{begin, "select count(*) from owners"} {
		if _, err := conn.ExecContext(d.Context(), sql); err != nil {
			d.Fatal(err)
		}
	}
	return func() {
		_, _ = conn.ExecContext(context.WithoutCancel(d.Context()), "rollback")
		_ = conn.Close()
	}
}

// PRF-01, counted: what was claimed under a foreign snapshot costs the next
// claims nothing.
func TestClaimsBeginWhereTheLastOnesEnded(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		plant(d, 4000, "build", jobs.Pending, d.Now)
		spread(d)
		d.Pass(time.Hour)
		in := jobs.ClaimIn{Kinds: []string{"build"}, Limit: 1, Floors: jobs.NewFloors()}
		fresh := d.cost(in)
		release := pin(d)
		defer release()
		for range 30 {
			if got := d.claimIn(jobs.ClaimIn{Limit: 100, Floors: in.Floors}); len(got) != 100 {
				d.Fatalf("claimed %d", len(got))
			}
		}
		with := d.cost(in)
		in.Floors = nil
		without := d.cost(in)
		d.Logf("fresh %+v, after 3,000 claims %+v, without a floor %+v", fresh, with, without)
		if with.all > fresh.all+12 {
			d.Errorf("%d buffers, %d before the claims", with.all, fresh.all)
		}
		if d.Store.Engine() == store.Postgres && without.all < 2*with.all {
			d.Errorf("%d buffers without a floor, %d with it: the test shows nothing", without.all, with.all)
		}
	})
}

// An enqueue that commits long after its neighbours lies below the floor.
func TestWhatLiesBelowTheFloorIsFound(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		late := func(name string) {
			plantFor(d, 1, name, row{"build", jobs.Pending, 3, dbtest.T0})
		}
		plant(d, 2, "build", jobs.Pending, d.Now.Add(time.Minute))
		d.Pass(time.Hour)
		in := jobs.ClaimIn{Floors: jobs.NewFloors()}
		claimed := func() string {
			got := d.claimIn(in)
			if len(got) != 1 {
				return ""
			}
			return got[0].Job.ID
		}
		first := claimed()
		late("late")
		if second := claimed(); second <= first || second == "job_late_00000001" {
			d.Errorf("the newer work is gone: %q after %q", second, first)
		}
		if got := claimed(); got != "job_late_00000001" {
			d.Errorf("an answer that would be empty: %q", got)
		}
		if got := claimed(); got != "" {
			d.Errorf("claimed %q", got)
		}
	})
}

func TestOnceASecondAClaimLooksBelowTheFloor(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		plant(d, 3, "build", jobs.Pending, d.Now.Add(time.Minute))
		d.Pass(time.Hour)
		in := jobs.ClaimIn{Floors: jobs.NewFloors()}
		d.claimIn(in)
		plantFor(d, 2, "late", row{"build", jobs.Pending, 3, dbtest.T0})
		d.Pass(time.Second)
		for _, want := range []string{"job_late_00000001", "job_late_00000002"} { // the floor falls to the first
			if got := d.claimIn(in)[0].Job.ID; got != want {
				d.Errorf("claimed %s, want %s", got, want)
			}
		}
	})
}

// What one owner's, kind's or priority's claims found hides no other's work.
func TestFloorsAreOfOneOwnerKindAndPriority(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		newer := dbtest.T0.Add(time.Minute)
		plantFor(d, 1, "a", row{"build", jobs.Pending, 3, newer})
		plantFor(d, 1, "b", row{"build", jobs.Pending, 3, newer})
		d.Pass(time.Hour)
		in := jobs.ClaimIn{Floors: jobs.NewFloors(), Kinds: []string{"build", "test"}}
		d.claimIn(in)
		plantFor(d, 1, "urgent", row{"build", jobs.Pending, 2, dbtest.T0})
		plantFor(d, 1, "other", row{"test", jobs.Pending, 1, dbtest.T0})
		for _, want := range []string{"job_other_00000001", "job_urgent_00000001", "job_b_00000001"} {
			if got := d.claimIn(in)[0].Job.ID; got != want {
				d.Errorf("claimed %s, want %s", got, want)
			}
		}
	})
}

// A transaction that lost a race is rolled back and run again: its first run
// took nothing, so the second one begins at the oldest.
func TestAClaimThatIsRunAgainRaisedNoFloor(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		plantFor(d, 1, "older", row{"build", jobs.Pending, 3, dbtest.T0})
		plantFor(d, 1, "newer", row{"build", jobs.Pending, 3, dbtest.T0.Add(time.Minute)})
		d.Pass(time.Hour)
		floors := jobs.NewFloors()
		var got [][]jobs.ClaimedJob
		d.Tx(func(q model.Querier) error {
			out, err := jobs.Claim(d.Context(), q, d.Now, jobs.ClaimIn{
				OwnerID: d.Owner, Worker: "w1", Kinds: []string{"build"}, Limit: int64(2 - len(got)), Floors: floors,
			})
			if got = append(got, out.Jobs); err != nil || len(got) == 2 {
				return err
			}
			_, err = q.OwnerInsert(d.Context(), model.OwnerInsertParams{ID: d.Owner, Name: "a twin", CreatedAt: d.Now})
			return err // of the unique key
		})
		if len(got) != 2 || len(got[0]) != 2 || got[1][0].Job.ID != "job_older_00000001" {
			d.Errorf("claimed %+v", got)
		}
	})
}

// A look below the floor that is rolled back is due again at once: the work that
// it found waits for no second one.
func TestALookBelowTheFloorCountsOnceItIsCommitted(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		plant(d, 2, "build", jobs.Pending, d.Now.Add(time.Minute))
		d.Pass(time.Hour)
		in := jobs.ClaimIn{Kinds: []string{"build"}, Limit: 1, Floors: jobs.NewFloors()}
		d.claimIn(in)
		plantFor(d, 1, "late", row{"build", jobs.Pending, 3, dbtest.T0})
		d.Pass(time.Second)
		claimOf(d, in)
		if got := d.claimIn(in)[0].Job.ID; got != "job_late_00000001" {
			d.Errorf("claimed %s", got)
		}
	})
}

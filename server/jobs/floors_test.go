package jobs_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	eachFresh(t, func(d *fixture) {
		plant(d, 4000, "build", jobs.Pending, d.Now)
		spread(d)
		d.Pass(time.Hour)
		d.floors = jobs.NewFloors()
		in := jobs.ClaimIn{Kinds: []string{"build"}, Limit: 1}
		fresh := d.cost(in)
		release := pin(d)
		defer release()
		for range 30 {
			if got := d.claimIn(jobs.ClaimIn{Limit: 100}); len(got) != 100 {
				d.Fatalf("claimed %d", len(got))
			}
		}
		with := d.cost(in)
		d.floors = nil
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
		d.floors = jobs.NewFloors()
		claimed := func() string {
			got := d.claimIn(jobs.ClaimIn{})
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
		d.floors = jobs.NewFloors()
		d.claimIn(jobs.ClaimIn{})
		plantFor(d, 2, "late", row{"build", jobs.Pending, 3, dbtest.T0})
		d.Pass(time.Second)
		for _, want := range []string{"job_late_00000001", "job_late_00000002"} { // the floor falls to the first
			if got := d.claimIn(jobs.ClaimIn{})[0].Job.ID; got != want {
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
		d.floors = jobs.NewFloors()
		in := jobs.ClaimIn{Kinds: []string{"build", "test"}}
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
		d.floors = jobs.NewFloors()
		in := d.whole(jobs.ClaimIn{})
		var got [][]jobs.ClaimedJob
		d.Tx(func(q model.Querier) error {
			in.Limit = int64(2 - len(got))
			out, err := jobs.Claim(d.Context(), q, d.Now, in)
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

// A look below the floor that is rolled back comes again a second later.
func TestALookBelowTheFloorThatIsRolledBackComesAgain(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		plant(d, 3, "build", jobs.Pending, d.Now.Add(time.Minute))
		d.Pass(time.Hour)
		d.floors = jobs.NewFloors()
		d.claim()
		plantFor(d, 1, "late", row{"build", jobs.Pending, 3, dbtest.T0})
		d.Pass(time.Second)
		claimOf(d, jobs.ClaimIn{})
		d.claim()
		d.state("job_late_00000001", jobs.Pending)
		d.Pass(time.Second)
		d.claim()
		d.state("job_late_00000001", jobs.Claimed)
	})
}

// below is the kinds of a claim that looks below their floors; it is rolled back.
func (d *fixture) below(kinds []string) (looked []string) {
	d.Helper()
	arg, _ := claimOf(d, jobs.ClaimIn{Kinds: kinds})
	var probes []struct {
		Kind            string
		Priority, Floor int64
	}
	if err := json.Unmarshal([]byte(arg.Probes), &probes); err != nil {
		d.Fatal(err)
	}
	for _, p := range probes {
		if p.Priority == 3 && p.Floor < dbtest.T0.Add(-time.Hour).UnixMicro() {
			looked = append(looked, p.Kind)
		}
	}
	return looked
}

// One claim of a second looks below the floors of a kind; that of another kind
// or owner is no substitute.
func TestOneClaimOfASecondLooksBelowTheFloorsOfAKind(t *testing.T) {
	each(t, func(d *fixture) {
		other, both := newFixture(d.T, d.Store), []string{"build", "test"}
		d.floors = jobs.NewFloors()
		other.floors = d.floors
		for _, of := range []*fixture{d, other} {
			plantFor(of, 2, of.Owner+"a", row{"build", jobs.Pending, 3, of.Now})
			plantFor(of, 2, of.Owner+"b", row{"test", jobs.Pending, 3, of.Now})
			of.Pass(time.Minute)
			of.claim("build")
			of.claim("test")
		}
		for range 2 {
			for i, tt := range []struct {
				of          *fixture
				kinds, want []string
			}{
				{d, both, nil}, // a look set the floors, or came less than a second ago
				{d, both[:1], both[:1]},
				{d, both, both[1:]},
				{d, both, nil},
				{other, both, both},
				{other, both[:1], nil},
			} {
				if i == 1 {
					d.Pass(time.Second)
					other.Pass(time.Second)
				}
				if diff := cmp.Diff(tt.want, tt.of.below(tt.kinds)); diff != "" {
					d.Errorf("claim %d (-want +got)\n%s", i, diff)
				}
			}
		}
	})
}

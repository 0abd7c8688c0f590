package control_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

const ttl = 30 * time.Second

// leaseRow is the row of the lease "work"; the zero Lease if there is none.
func leaseRow(t *testing.T, s *store.Store) model.Lease {
	t.Helper()
	rows, err := s.LeaseList(t.Context(), model.LeaseListParams{Max: 10})
	if err != nil || len(rows) > 1 {
		t.Fatalf("leases: %v, %v", rows, err)
	}
	if len(rows) == 0 {
		return model.Lease{}
	}
	return rows[0]
}

// CLM-10: only its holder renews a lease, and only one that has ended changes
// hands, always to the next term.
func TestLeaseIsTakenByOneHolderATerm(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		clock := dbtest.Freeze(s)
		now := func(after time.Duration) coltype.Time { return dbtest.T0.Add(after) }
		for i, step := range []struct {
			wait    time.Duration
			holder  string
			release bool
			held    bool
			want    model.Lease
		}{
			{0, "b", true, false, model.Lease{}},
			{0, "a", false, true, model.Lease{Holder: "a", Term: 1, TakenAt: now(0), ExpiresAt: now(30 * time.Second)}},
			{10 * time.Second, "b", false, false, model.Lease{Holder: "a", Term: 1, TakenAt: now(0), ExpiresAt: now(30 * time.Second)}},
			{0, "b", true, false, model.Lease{Holder: "a", Term: 1, TakenAt: now(0), ExpiresAt: now(30 * time.Second)}},
			{0, "a", false, true, model.Lease{Holder: "a", Term: 1, TakenAt: now(0), ExpiresAt: now(40 * time.Second)}},
			{30*time.Second - time.Microsecond, "b", false, false, model.Lease{Holder: "a", Term: 1, TakenAt: now(0), ExpiresAt: now(40 * time.Second)}},
			{time.Microsecond, "b", false, true, model.Lease{Holder: "b", Term: 2, TakenAt: now(40 * time.Second), ExpiresAt: now(70 * time.Second)}},
			{0, "a", false, false, model.Lease{Holder: "b", Term: 2, TakenAt: now(40 * time.Second), ExpiresAt: now(70 * time.Second)}},
			{5 * time.Second, "b", true, false, model.Lease{Holder: "b", Term: 2, TakenAt: now(40 * time.Second), ExpiresAt: now(45 * time.Second)}},
			{time.Second, "b", true, false, model.Lease{Holder: "b", Term: 2, TakenAt: now(40 * time.Second), ExpiresAt: now(45 * time.Second)}},
			{0, "a", false, true, model.Lease{Holder: "a", Term: 3, TakenAt: now(46 * time.Second), ExpiresAt: now(76 * time.Second)}},
		} {
			clock.Advance(step.wait)
			var left time.Duration
			var err error
			if step.release {
				err = control.ReleaseLease(t.Context(), s, "work", step.holder)
			} else {
				var got control.Taken
				got, err = control.TakeLease(t.Context(), s, "work", step.holder, ttl)
				left = got.Left
			}
			if step.want.Name = "work"; step.want.Term == 0 {
				step.want.Name = ""
			}
			got := leaseRow(t, s)
			if err != nil || (left > 0) != step.held || got != step.want {
				t.Fatalf("step %d: left %v, %v\n%+v, want\n%+v", i, left, err, got, step.want)
			}
			if left > 0 && left != got.ExpiresAt.Sub(clock.Now()) {
				t.Errorf("step %d: left %v of a lease until %v", i, left, got.ExpiresAt)
			}
		}
	})
}

// What the commit took so long for that it ran out is not reported as held.
func TestLeaseThatRanOutByItsCommitIsNotTaken(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		for _, tt := range []struct {
			late time.Duration
			left time.Duration
		}{{ttl - time.Microsecond, time.Microsecond}, {ttl, 0}, {ttl + time.Hour, 0}} {
			var mu sync.Mutex
			reads := 0
			s.SetClock(func() coltype.Time { // the last reading alone is late
				mu.Lock()
				defer mu.Unlock()
				if reads++; reads > 2 {
					return dbtest.T0.Add(tt.late)
				}
				return dbtest.T0
			})
			got, err := control.TakeLease(t.Context(), s, "work", "a", ttl)
			if left := got.Left; err != nil || left != tt.left || reads != 3 {
				t.Errorf("known %v after the take: left %v, %v, %d readings", tt.late, got.Left, err, reads)
			}
		}
	})
}

// Of all that race for a lease that has ended one wins, at each turn.
func TestOneOfManyRacersTakesALease(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		clock := dbtest.Freeze(s)
		const racers = 32
		for turn := range 10 {
			var wins sync.Map
			var wg sync.WaitGroup
			for i := range racers {
				wg.Go(func() {
					lease, err := control.TakeLease(t.Context(), s, "work", fmt.Sprint("racer-", turn, "-", i), ttl)
					if err != nil {
						t.Error(err)
					}
					if lease.Left > 0 {
						wins.Store(lease.Holder, lease.Term)
					}
				})
			}
			wg.Wait()
			row, n := leaseRow(t, s), 0
			wins.Range(func(holder, term any) bool {
				if n++; holder != row.Holder || term != row.Term {
					t.Errorf("turn %d: %s was told term %d, the lease is %+v", turn, holder, term, row)
				}
				return true
			})
			if n != 1 || row.Term != int64(turn+1) {
				t.Errorf("turn %d: %d of %d racers won, the lease is %+v", turn, n, racers, row)
			}
			clock.Advance(ttl)
		}
	})
}

// spoil lets the lease end at a time that nobody took it for.
func spoil(t *testing.T, s *store.Store, ends coltype.Time) {
	t.Helper()
	var value any = ends.Time
	if s.Engine() == store.SQLite {
		value = ends.UnixMicro()
	}
	dbtest.SQL(t, s, "update leases set expires_at = $1", value)
}

// A lease that a process with a wrong clock left is anybody's, for whom its end is
// too far off: an hour, and what clocks may differ by.
func TestLeaseThatEndsTooLateIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		clock := dbtest.Freeze(s)
		latest := dbtest.T0.Add(time.Hour + store.Apart)
		term := int64(1)
		for _, tt := range []struct {
			ends  coltype.Time
			taken bool
		}{{latest, false}, {latest.Add(time.Microsecond), true}, {dbtest.T0.Add(48 * time.Hour), true}, {coltype.Last, true}} {
			if _, err := control.TakeLease(t.Context(), s, "work", "a", ttl); err != nil {
				t.Fatal(err)
			}
			before := leaseRow(t, s).Term
			spoil(t, s, tt.ends)
			got, err := control.TakeLease(t.Context(), s, "work", "b", ttl)
			if err != nil || (got.Left == ttl) != tt.taken || (got.Broken != nil) != tt.taken {
				t.Errorf("until %s: left %v, %v", tt.ends, got.Left, err)
			}
			row := leaseRow(t, s)
			if tt.taken && (row.Holder != "b" || row.Term != before+1 || !row.ExpiresAt.Equal(clock.Now().Add(ttl)) || got.Broken.Holder != "a") {
				t.Errorf("until %s: the lease is %+v, the broken one was %+v", tt.ends, row, got.Broken)
			}
			spoil(t, s, clock.Now()) // for the next one
			term = row.Term
		}
		if term < 4 {
			t.Errorf("%d terms", term)
		}
	})
}

// A holder that lives sets its lease right by its next pass.
func TestHolderMendsItsBrokenLease(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		for range 2 {
			got, err := control.TakeLease(t.Context(), s, "work", "a", ttl)
			if err != nil || got.Left != ttl || got.Term != 1 || got.Broken != nil {
				t.Errorf("%+v, %v", got, err)
			}
			spoil(t, s, coltype.Last)
		}
	})
}

package control_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// CLM-12: a holder must be able to renew twice before its lease ends.
func TestLeaseShorterThanTwoIntervalsIsRefused(t *testing.T) {
	t.Parallel()
	s := lite(t)
	for _, tt := range []struct {
		every, ttl time.Duration
		lease, ok  bool
	}{
		{30 * time.Second, 0, true, true}, {30 * time.Second, time.Minute, true, true}, {30 * time.Second, time.Hour, true, true},
		{30 * time.Second, 30 * time.Second, true, false}, {30 * time.Second, time.Minute - 1, true, false}, {30 * time.Second, time.Second, true, false},
		{30 * time.Second, -time.Minute, true, false}, {30 * time.Second, 1000 * time.Hour, true, false}, {30 * time.Second, time.Hour + 1, true, false},
		{time.Hour, 0, true, false}, {0, time.Minute, true, false}, {-time.Second, 0, true, false},
		{time.Hour, 0, false, true}, {0, 0, false, false}, {30 * time.Second, time.Minute, false, false},
	} {
		_, err := control.NewRunner(s, slog.New(slog.DiscardHandler), control.Loop{Name: "work", Every: tt.every, TTL: tt.ttl, Lease: tt.lease})
		if (err == nil) != tt.ok {
			t.Errorf("every %v, ttl %v, lease %v: %v", tt.every, tt.ttl, tt.lease, err)
		}
	}
}

// member is one replica's runner with a loop under the lease "work".
type member struct {
	*control.Runner
	*ticker
	log  bytes.Buffer
	stop func()
}

func join(t *testing.T, ctx context.Context, s *store.Store, run func(context.Context, *store.Store) (int, error)) *member {
	t.Helper()
	m := &member{ticker: newTicker()}
	var err error
	m.Runner, err = control.NewRunner(s, slog.New(slog.NewTextHandler(&m.log, nil)),
		control.Loop{Name: "work", Every: 10 * time.Second, Lease: true, Run: run})
	if err != nil {
		t.Fatal(err)
	}
	m.TimeForTest(m.wait, func() time.Time { return dbtest.T0.Time })
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { m.Run(ctx) })
	m.stop = func() { cancel(); wg.Wait() }
	t.Cleanup(m.stop)
	return m
}

// turn lets a member do one pass, or leave it out.
func (m *member) turn() control.LoopStatus {
	m.step()
	m.see()
	return m.Status()[0]
}

func TestPassWithoutTheLeaseRunsNoStatementOfIt(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		clock := dbtest.Freeze(s)
		passes := 0
		pass := func(ctx context.Context, s *store.Store) (int, error) {
			passes++
			_, err := s.MetaGet(ctx, model.MetaGetParams{Key: "work"})
			if !store.NotFound(err) {
				return 0, err
			}
			return 7, nil
		}
		ctx, stats := store.WithStats(t.Context())
		a := join(t, t.Context(), s, pass)
		if got := a.turn(); !got.Held || got.Term != 1 || got.Done != 7 || got.Passes != 1 || passes != 1 {
			t.Errorf("the holder: %+v after %d passes", got, passes)
		}
		b := join(t, ctx, s, pass)
		for i := range int64(3) {
			got := b.turn()
			if got.Held || got.Term != 0 || got.Passes != 0 || got.Skipped != i+1 || got.Age != -1 || got.Error != "" || passes != 1 {
				t.Errorf("the other one: %+v after %d passes", got, passes)
			}
			if n := stats.Statements(); n != 2*(i+1) {
				t.Errorf("%d statements in %d turns without the lease, want the take and a look at the lease", n, i+1)
			}
		}
		clock.Advance(30 * time.Second)
		if got := b.turn(); !got.Held || got.Term != 2 || got.Passes != 1 || passes != 2 || stats.Statements() != 8 {
			t.Errorf("once it has ended: %+v after %d passes and %d statements", got, passes, stats.Statements())
		}
		if got := a.Status()[0]; got.Held || got.Term != 1 {
			t.Errorf("the holder of before believes: %+v", got)
		}
		if got := a.turn(); got.Held || got.Skipped != 1 || got.Done != 7 || passes != 2 {
			t.Errorf("the holder of before: %+v after %d passes", got, passes)
		}
		if a.Holder() == b.Holder() {
			t.Errorf("both are called %s", a.Holder())
		}
	})
}

func TestHolderThatRenewsEachPassKeepsItsTerm(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		clock := dbtest.Freeze(s)
		nothing := func(context.Context, *store.Store) (int, error) { return 0, nil }
		a, b := join(t, t.Context(), s, nothing), join(t, t.Context(), s, nothing)
		for i := range int64(20) {
			if got := a.turn(); !got.Held || got.Term != 1 || got.Passes != i+1 {
				t.Errorf("the holder after %d passes: %+v", i+1, got)
			}
			clock.Advance(11 * time.Second) // the longest wait
			if got := b.turn(); got.Held || got.Passes != 0 {
				t.Errorf("the other one: %+v", got)
			}
		}
		if n := strings.Count(a.log.String(), "took a lease"); n != 1 {
			t.Errorf("%d lines say that it took the lease:\n%s", n, a.log.String())
		}
	})
}

func TestRunnerThatStopsReleasesItsLease(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		clock := dbtest.Freeze(s)
		nothing := func(context.Context, *store.Store) (int, error) { return 0, nil }
		a, b := join(t, t.Context(), s, nothing), join(t, t.Context(), s, nothing)
		a.turn()
		b.turn()
		b.stop() // which has none
		if row := leaseRow(t, s); row.Holder != a.Holder() || !row.ExpiresAt.Equal(dbtest.T0.Add(30*time.Second)) {
			t.Errorf("the lease, once another one stopped: %+v", row)
		}
		clock.Advance(time.Second)
		a.stop()
		if row := leaseRow(t, s); row.Term != 1 || row.Holder != a.Holder() || !row.ExpiresAt.Equal(clock.Now()) {
			t.Errorf("the lease, once its holder stopped: %+v", row)
		}
		if got := a.Status()[0]; got.Held {
			t.Errorf("the holder that stopped: %+v", got)
		}
		if got := join(t, t.Context(), s, nothing).turn(); !got.Held || got.Term != 2 {
			t.Errorf("the next holder: %+v", got)
		}
	})
}

// What /readyz?verbose shows of a lease, on the replica that holds it and on
// one that does not.
func TestReadinessShowsWhoHoldsALease(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		nothing := func(context.Context, *store.Store) (int, error) { return 0, nil }
		for i, want := range []string{`{"held":true,"term":1,"skipped":0}`, `{"held":false,"term":null,"skipped":1}`} {
			m := join(t, t.Context(), s, nothing)
			m.turn()
			h := health(t, control.NewReadiness(s, m.Runner, nil))
			got, err := json.Marshal(h.Loops[0].Lease)
			if err != nil || string(got) != want || h.Holder == nil || *h.Holder != m.Holder() || *h.Holder == "" {
				t.Errorf("replica %d: %s of %v, %v, want %s of %q", i, got, h.Holder, err, want, m.Holder())
			}
		}
	})
}

// A pass that outlives its lease is cut off, and counts as failed.
func TestPassIsCutWhenItsLeaseEnds(t *testing.T) {
	t.Parallel()
	var reads, most int
	s := lite(t)
	s.SetClock(func() (now coltype.Time) { // the lease has 1 ms left once it is taken
		if now = dbtest.T0; reads == 2 {
			now = now.Add(30*time.Second - time.Millisecond)
		}
		reads = min(reads+1, 2)
		return now
	})
	m := join(t, t.Context(), s, func(ctx context.Context, _ *store.Store) (int, error) {
		most++
		<-ctx.Done()
		return 0, ctx.Err()
	})
	got := m.turn()
	if most != 1 || got.Failures != 1 || !strings.Contains(got.Error, "lease ended before the pass did") {
		t.Errorf("%+v after %d passes", got, most)
	}
}

// A database that is away is a failed pass: nobody knows who has the lease.
func TestPassWhoseLeaseCannotBeAskedForFails(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		passes := 0
		m := join(t, t.Context(), s, func(context.Context, *store.Store) (int, error) { passes++; return 0, errors.New("no") })
		dbtest.SQL(t, s, "alter table leases rename to gone")
		if got := m.turn(); got.Failures != 1 || passes != 0 || got.Held || !strings.Contains(got.Error, "take the lease work") {
			t.Errorf("without the table: %+v after %d passes", got, passes)
		}
		dbtest.SQL(t, s, "alter table gone rename to leases")
		if got := m.turn(); got.Failures != 2 || passes != 1 || !got.Held || got.Error != "no" {
			t.Errorf("with it: %+v after %d passes", got, passes)
		}
	})
}

func TestRunnerTellsOfABrokenLeaseOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		nothing := func(context.Context, *store.Store) (int, error) { return 0, nil }
		a, b := join(t, t.Context(), s, nothing), join(t, t.Context(), s, nothing)
		a.turn()
		a.stop()
		spoil(t, s, coltype.Last)
		for range 3 {
			if got := b.turn(); !got.Held || got.Term != 2 {
				t.Errorf("the next holder: %+v", got)
			}
		}
		if log := b.log.String(); strings.Count(log, "level=WARN") != 1 || !strings.Contains(log, "holder="+a.Holder()) {
			t.Errorf("the log says:\n%s", log)
		}
	})
}

package control_test

import (
	"context"
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

const keyTTL = control.MinKeyTTL

// keeper is a database with keys of one owner, and a clock that a test moves.
type keeper struct {
	*testing.T
	s     *store.Store
	owner string
	clock *dbtest.Clock
}

func eachKeeper(t *testing.T, fn func(k *keeper)) {
	t.Helper()
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) { fn(newKeeper(t, s)) })
}

func newKeeper(t *testing.T, s *store.Store) *keeper {
	return &keeper{t, s, dbtest.Owner(t, s, "ada").ID, dbtest.Freeze(s)}
}

func (k *keeper) key(name string) control.Key {
	return control.Key{OwnerID: k.owner, Principal: "tok_1", Route: "POST /v1/jobs", Key: name, Fingerprint: "f"}
}

// ask is a request under a key now: the answer kept for it, else body, which it
// then keeps.
func (k *keeper) ask(key control.Key, body string) (answer string, fresh bool, err error) {
	err = k.s.Tx(k.Context(), func(q model.Querier) error {
		kept, err := control.Reserve(k.Context(), q, k.clock.Now(), keyTTL, key)
		if err != nil {
			return err
		}
		if fresh = kept == nil; !fresh {
			answer = kept.Body
			return nil
		}
		answer = body
		return control.Keep(k.Context(), q, key, control.Kept{Status: 201, Body: body})
	})
	return answer, fresh, err
}

// wants asks, and wants that answer.
func (k *keeper) wants(key control.Key, body, answer string) {
	k.Helper()
	if got, _, err := k.ask(key, body); err != nil || got != answer {
		k.Errorf("%s: %q, %v; want %q", key.Key, got, err, answer)
	}
}

// sweep sweeps now, and wants so many records changed.
func (k *keeper) sweep(changed int) {
	k.Helper()
	if n, err := control.SweepKeys(k.Context(), k.s, keyTTL); err != nil || n != changed {
		k.Errorf("the sweep changed %d, %v; want %d", n, err, changed)
	}
}

// plant writes n records as they stand after a keyed request at that time; the
// zero time is one of the release before, which wrote neither date nor If-Match.
func (k *keeper) plant(prefix string, n int, at coltype.Time) {
	k.Helper()
	numbers := "generate_series(1, $3) i"
	if k.s.Engine() == store.SQLite {
		numbers = "(with recursive n(i) as (select 1 union all select i + 1 from n where i < $3) select i from n)"
	}
	var date any
	if date = at.Time; k.s.Engine() == store.SQLite {
		date = at.UnixMicro()
	}
	if at.IsZero() {
		date = nil
	}
	dbtest.SQL(k.T, k.s, `insert into idempotency_keys (owner_id, principal, route, key, fingerprint, status, body, created_at)
		select $1, 'tok_1', 'POST /v1/jobs', cast($2 as text) || cast(i as text), 'f', 201, 'old', $4 from `+numbers, k.owner, prefix, n, date)
}

func (k *keeper) rows() int {
	k.Helper()
	return dbtest.Get[int](k.T, k.s, "select count(*) from idempotency_keys")
}

func TestAnExpiredRecordIsANewRequest(t *testing.T) {
	eachKeeper(t, func(k *keeper) {
		k.wants(k.key("k"), "first", "first")
		k.clock.Advance(keyTTL - time.Microsecond)
		k.wants(k.key("k"), "second", "first")
		k.clock.Advance(time.Microsecond)
		if kept, err := control.Peek(k.Context(), k.s, k.clock.Now(), keyTTL, k.key("k")); kept != nil || err != nil {
			k.Errorf("peek: %v, %v", kept, err)
		}
		other := k.key("k")
		other.Fingerprint = "g"
		k.wants(other, "third", "third")
		k.clock.Advance(keyTTL - time.Microsecond)
		k.wants(other, "fourth", "third")
		if _, _, err := k.ask(k.key("k"), ""); err == nil {
			k.Error("the request before is still known")
		}
	})
}

func TestOfManyWhoFindAnExpiredRecordOneTakesItOver(t *testing.T) {
	eachKeeper(t, func(k *keeper) {
		k.wants(k.key("k"), "old", "old")
		k.clock.Advance(keyTTL)
		answers := make([]string, 20)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				var err error
				if answers[i], _, err = k.ask(k.key("k"), fmt.Sprint(i)); err != nil {
					k.Error(err)
				}
			})
		}
		wg.Wait()
		for i, answer := range answers {
			if answer != answers[0] || answer == "old" {
				k.Errorf("request %d got %q, request 0 %q", i, answer, answers[0])
			}
		}
	})
}

func TestTheFirstSweepDatesAndASweepOneTTLLaterRemoves(t *testing.T) {
	eachKeeper(t, func(k *keeper) {
		k.plant("old", 3, coltype.Time{})
		k.clock.Advance(1000 * keyTTL) // no date, no age
		k.wants(k.key("old1"), "", "old")
		k.sweep(3)
		mark := dbtest.Get[string](k.T, k.s, "select value from meta where key = 'backfill:idem-times'")
		k.plant("late", 1, coltype.Time{}) // by an old replica that still runs
		k.clock.Advance(keyTTL / 2)
		k.wants(k.key("old2"), "", "old")
		k.sweep(1)
		k.clock.Advance(keyTTL / 2)
		k.sweep(3)
		k.wants(k.key("late1"), "", "old")
		k.clock.Advance(keyTTL / 2)
		k.sweep(1)
		if n := k.rows(); n != 0 {
			k.Errorf("%d records are left", n)
		}
		if now := dbtest.Get[string](k.T, k.s, "select value from meta where key = 'backfill:idem-times'"); now != mark {
			k.Errorf("marked anew: %s, before %s", now, mark)
		}
		k.wants(k.key("old1"), "new", "new")
	})
}

// PRF-06: what a sweep costs grows with what it removes, not with what stands.
func TestASweepWorksInBatches(t *testing.T) {
	eachKeeper(t, func(k *keeper) {
		k.plant("stale", 2500, dbtest.T0)
		k.clock.Advance(keyTTL)
		k.plant("fresh", 2500, k.clock.Now())
		ctx, stats := store.WithStats(k.Context())
		n, err := control.SweepKeys(ctx, k.s, keyTTL)
		// Mark read, dates, mark set, dates anew; then batches of 1,000.
		if statements := stats.Statements(); n != 2500 || err != nil || statements != 7 || k.rows() != 2500 {
			k.Errorf("removed %d, %v, by %d statements; %d are left", n, err, statements, k.rows())
		}
		ctx, stats = store.WithStats(k.Context())
		n, err = control.SweepKeys(ctx, k.s, keyTTL)
		if statements := stats.Statements(); n != 0 || err != nil || statements != 4 {
			k.Errorf("with nothing to do: %d, %v, by %d statements", n, err, statements)
		}
	})
}

// cutOff is a context that ends once so many statements have begun.
type cutOff struct {
	context.Context
	stats *store.Stats
	after int64
}

func (c cutOff) Err() error {
	if c.stats.Statements() > c.after {
		return context.Canceled
	}
	return c.Context.Err()
}

func TestWhatASweepRemovedStaysRemovedWhenItIsCutOff(t *testing.T) {
	eachKeeper(t, func(k *keeper) {
		k.sweep(0)
		k.plant("stale", 2500, dbtest.T0)
		k.clock.Advance(keyTTL)
		ctx, stats := store.WithStats(k.Context())
		if _, err := control.SweepKeys(cutOff{ctx, stats, 4}, k.s, keyTTL); err == nil {
			k.Error("it went on to the end")
		}
		if n := k.rows(); n != 1500 {
			k.Errorf("%d records are left", n)
		}
		k.sweep(1500)
	})
}

// On PostgreSQL a request may hold an expired record while the sweep comes by.
func TestASweepPassesOverARecordThatIsBeingTakenOver(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)}))
	k.plant("stale", 3, dbtest.T0)
	k.clock.Advance(keyTTL)
	err := k.s.Tx(t.Context(), func(q model.Querier) error {
		kept, err := control.Reserve(t.Context(), q, k.clock.Now(), keyTTL, k.key("stale2"))
		if kept != nil || err != nil {
			t.Errorf("an expired record: %v, %v", kept, err)
		}
		k.sweep(2)
		return control.Keep(t.Context(), q, k.key("stale2"), control.Kept{Status: 200, Body: "new"})
	})
	if err != nil {
		t.Fatal(err)
	}
	k.sweep(0)
	k.wants(k.key("stale2"), "", "new")
}

func TestTheTimeOfAKeyHasBounds(t *testing.T) {
	t.Parallel()
	for d, ok := range map[time.Duration]bool{
		time.Minute: true, 24 * time.Hour: true, 720 * time.Hour: true,
		0: false, -time.Hour: false, time.Minute - 1: false, 720*time.Hour + 1: false,
	} {
		if err := control.CheckKeyTTL(d); (err == nil) != ok {
			t.Errorf("%v: %v", d, err)
		}
	}
}

// An answer that a wrong clock kept is replayed for one ttl from when a sweep sees
// it, not until that clock's time.
func TestSweepDatesAnewWhatAWrongClockDated(t *testing.T) {
	eachKeeper(t, func(k *keeper) {
		k.sweep(0)
		k.plant("ahead", 1, dbtest.T0.Add(10*365*24*time.Hour))
		k.plant("beside", 1, dbtest.T0.Add(store.Apart)) // another replica's clock
		k.sweep(1)
		k.wants(k.key("ahead1"), "new", "old")
		k.clock.Advance(keyTTL)
		k.wants(k.key("ahead1"), "new", "new")
		k.wants(k.key("beside1"), "new", "old")
	})
}

package web_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

func TestAnExpiredKeyMayStandForAnotherRequest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		e := serve(t, s, web.Config{KeyTTL: time.Hour})
		clock := dbtest.Freeze(s)
		first := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k")
		clock.Advance(time.Hour - time.Second)
		if got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k"); got.body != first.body {
			t.Errorf("before its time: %s, first %s", got.body, first.body)
		}
		clock.Advance(time.Second)
		other := e.do(t, "POST", "/v1/things", `{"kind":"b"}`, "Idempotency-Key", "k")
		if other.Status != 201 || other.Header.Get("Idempotent-Replayed") != "" || e.effectsOf(t, "b") != 1 {
			t.Errorf("another body after its time: status %d: %s", other.Status, other.body)
		}
		if got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k"); got.Status != 422 {
			t.Errorf("the first body again: status %d: %s", got.Status, got.body)
		}
	})
}

// IDM-08: while the time of keys runs out under requests that repeat, and sweeps
// run beside them, every answer is a replay or a fresh run, and every fresh run
// has its one effect.
func TestASweepRacesReplays(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		e := serve(t, s, web.Config{KeyTTL: control.MinKeyTTL})
		clock := dbtest.Freeze(s)
		var fresh, removed atomic.Int64
		var bodies [4]sync.Map // by key: what was answered afresh, and what replays showed
		var requests, sweeps sync.WaitGroup
		ended := make(chan struct{})
		sweeps.Go(func() {
			for open := true; open; {
				select {
				case <-ended:
					open = false
				default:
				}
				n, err := control.SweepKeys(context.WithoutCancel(t.Context()), s.Background(), control.MinKeyTTL)
				if err != nil {
					t.Errorf("the sweep: %v", err)
				}
				removed.Add(int64(n))
			}
		})
		for range 8 {
			requests.Go(func() {
				for n := range 60 {
					got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", fmt.Sprint(n%4))
					if got.Status != 201 {
						t.Errorf("status %d: %s", got.Status, got.body)
					}
					replayed := got.Header.Get("Idempotent-Replayed") != ""
					if !replayed {
						fresh.Add(1)
					}
					if was, known := bodies[n%4].Swap(got.body, !replayed); known && was.(bool) {
						bodies[n%4].Store(got.body, true)
					}
					clock.Advance(2 * time.Second)
				}
			})
		}
		requests.Wait()
		close(ended)
		sweeps.Wait()
		if n := e.effectsOf(t, "a"); int64(n) != fresh.Load() || n < 16 {
			t.Errorf("%d effects, %d fresh answers", n, fresh.Load())
		}
		for i := range bodies {
			bodies[i].Range(func(body, fresh any) bool {
				if !fresh.(bool) {
					t.Errorf("key %d: a replay of what nobody was answered: %s", i, body)
				}
				return true
			})
		}
		t.Logf("%d fresh answers of 480, %d records removed", fresh.Load(), removed.Load())
	})
}

func TestAReplayHasTheETagOfItsAnswer(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		first := e.do(t, "PATCH", "/v1/things/thing_1", "", "Idempotency-Key", "k", "If-Match", `"v3"`)
		again := e.do(t, "PATCH", "/v1/things/thing_1", "", "Idempotency-Key", "k", "If-Match", `"v3"`)
		if first.Status != 200 || first.Header.Get("ETag") != `"v4"` || again.Header.Get("ETag") != `"v4"` || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%d, ETag %s; then %d, ETag %s", first.Status, first.Header.Get("ETag"), again.Status, again.Header.Get("ETag"))
		}
		for range 2 {
			stale := e.do(t, "PATCH", "/v1/things/thing_1", "", "Idempotency-Key", "stale", "If-Match", `"v2"`)
			if stale.Status != 412 || stale.Header.Get("ETag") != "" {
				t.Errorf("a stale version: status %d, ETag %s", stale.Status, stale.Header.Get("ETag"))
			}
		}
	})
}

// The version that a change was made from decides over its effect, so it is
// part of what a key stands for.
func TestAKeyStandsForOneVersion(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		e.do(t, "PATCH", "/v1/things/thing_1", "", "Idempotency-Key", "k", "If-Match", `"v3"`)
		for _, version := range []string{`"v4"`, "*", ""} {
			got := e.do(t, "PATCH", "/v1/things/thing_1", "", "Idempotency-Key", "k", "If-Match", version)
			if got.Status != 422 || got.problem(t).Code != "idempotency_key_reused" {
				t.Errorf("If-Match %s: status %d: %s", version, got.Status, got.body)
			}
		}
		// A record of the release before does not tell which version it was.
		dbtest.SQL(t, e.store, "update idempotency_keys set if_match = null, created_at = null where owner_id = $1", e.owner)
		if got := e.do(t, "PATCH", "/v1/things/thing_1", "", "Idempotency-Key", "k", "If-Match", `"v3"`); got.Status != 200 {
			t.Errorf("over an upgrade: status %d: %s", got.Status, got.body)
		}
	})
}

// A sweep that dates records locks them for a moment. That is no request in
// flight, so nobody is told of one.
func TestAReplayIsAnsweredWhileItsRecordIsLocked(t *testing.T) {
	t.Parallel()
	e := serve(t, dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres), Waits: store.Waits{Lock: 50 * time.Millisecond}}), web.Config{})
	first := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k")
	dbtest.SQL(t, e.store, "update idempotency_keys set created_at = null, if_match = null")
	err := e.store.Tx(t.Context(), func(q model.Querier) error {
		if _, err := q.IdempotencyKeyDate(t.Context(), model.IdempotencyKeyDateParams{Now: dbtest.T0, Max: 10}); err != nil {
			return err
		}
		got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k")
		if got.Status != 201 || got.body != first.body {
			t.Errorf("status %d: %s", got.Status, got.body)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

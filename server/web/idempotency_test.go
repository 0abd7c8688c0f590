package web_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

func TestARepeatedRequestGetsTheSameBytes(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		ran := 0
		e.after = func() { ran++ }
		const body = `{"kind":"a","payload":{"n":9007199254740993,"s":"<&>"}}`
		first := e.do(t, "POST", "/v1/things", body, "Idempotency-Key", "k1")
		again := e.do(t, "POST", "/v1/things", body, "Idempotency-Key", "k1")
		if first.Status != 201 || again.Status != 201 || first.body != again.body {
			t.Fatalf("%d %s\n%d %s", first.Status, first.body, again.Status, again.body)
		}
		if first.Header.Get("Idempotent-Replayed") != "" || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Error("the replay is not marked, or the first answer is")
		}
		if first.Header.Get("Content-Type") != again.Header.Get("Content-Type") {
			t.Error("content types differ")
		}
		if n := e.effectsOf(t, "a"); n != 1 || ran != 1 {
			t.Errorf("%d effects, After ran %d times", n, ran)
		}
	})
}

func TestWithoutAKeyEveryRequestCounts(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		e.do(t, "POST", "/v1/things", `{"kind":"a"}`)
		e.do(t, "POST", "/v1/things", `{"kind":"a"}`)
		if n := e.effectsOf(t, "a"); n != 2 {
			t.Errorf("%d effects", n)
		}
	})
}

func TestAKeyStandsForTheWholeRequest(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		first := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k")
		for _, body := range []string{`{"kind":"b"}`, `{"kind": "a"}`, `{"kind":"a","count":1}`} {
			got := e.do(t, "POST", "/v1/things", body, "Idempotency-Key", "k")
			if got.Status != 422 || got.problem(t).Code != "idempotency_key_reused" {
				t.Errorf("%s: status %d: %s", body, got.Status, got.body)
			}
		}
		if again := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k"); again.body != first.body {
			t.Errorf("the first answer is gone: %s", again.body)
		}
	})
}

func TestKeysOfTokensAndOwnersAreApart(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		for _, token := range []string{adminToken, otherToken, "stint_bob"} {
			got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k", "Authorization", "Bearer "+token)
			if got.Status != 201 || got.Header.Get("Idempotent-Replayed") != "" {
				t.Errorf("%s: status %d: %s", token, got.Status, got.body)
			}
		}
		if n := e.effectsOf(t, "a"); n != 3 {
			t.Errorf("%d effects", n)
		}
	})
}

func TestKeysThatAreNoKeys(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for _, key := range []string{"a b", "ü", strings.Repeat("k", 256)} {
		got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", key)
		if got.Status != 400 || got.pointers(t) != "header:/Idempotency-Key" {
			t.Errorf("%.20q: status %d: %s", key, got.Status, got.body)
		}
	}
	if got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", strings.Repeat("k", 255)); got.Status != 201 {
		t.Errorf("255 characters: status %d", got.Status)
	}
	status := e.raw(t, "POST /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer stint_admin\r\n"+
		"Content-Type: application/json\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 12\r\n\r\n{\"kind\":\"a\"}")
	if status != "400" {
		t.Errorf("two keys: status %s", status)
	}
	status = e.raw(t, "POST /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer stint_admin\r\n"+
		"Content-Type: application/json\r\nIdempotency-Key:\r\nContent-Length: 12\r\n\r\n{\"kind\":\"a\"}")
	if status != "400" {
		t.Errorf("an empty key: status %s", status)
	}
	got := e.do(t, "POST", "/v1/things?x=1", `{"kind":1}`, "Idempotency-Key", "a b")
	if got.Status != 400 || got.pointers(t) != "body:/kind header:/Idempotency-Key query:/x" {
		t.Errorf("among other faults: status %d: %s", got.Status, got.body)
	}
	got = e.do(t, "POST", "/v1/secrets", "", "Idempotency-Key", "k")
	if got.Status != 400 || got.problem(t).Code != "idempotency_unsupported" {
		t.Errorf("a route with a secret: status %d: %s", got.Status, got.body)
	}
}

func TestFiftyRequestsWithOneKeyHaveOneEffect(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		var fresh, replayed, inFlight atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k")
				switch {
				case got.Status == 201 && got.Header.Get("Idempotent-Replayed") == "true":
					replayed.Add(1)
				case got.Status == 201:
					fresh.Add(1)
				case got.Status == 409 && got.Header.Get("Retry-After") != "":
					inFlight.Add(1)
				default:
					t.Errorf("status %d: %s", got.Status, got.body)
				}
			})
		}
		wg.Wait()
		if n := e.effectsOf(t, "a"); n != 1 || fresh.Load() != 1 {
			t.Errorf("%d effects, %d fresh answers, %d replays, %d in flight", n, fresh.Load(), replayed.Load(), inFlight.Load())
		}
	})
}

// While the first request holds its transaction open, the same key answers 409
// after the wait for locks; nothing else is decided before the first one ends.
// SQLite has one writer, so there the second request waits for that, not for the
// key, and gets 503.
func TestAKeyInFlight(t *testing.T) {
	t.Parallel()
	short := store.Waits{Lock: 300 * time.Millisecond, Writer: 300 * time.Millisecond}
	dbtest.EachWith(t, dbtest.Whole, store.Config{Waits: short}, func(t *testing.T, s *store.Store) {
		e := serve(t, s, web.Config{})
		inside, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		e.during = func(model.Querier) error {
			once.Do(func() { close(inside) })
			<-release
			return nil
		}
		var first answer
		var wg sync.WaitGroup
		wg.Go(func() { first = e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k") })
		<-inside
		for _, body := range []string{`{"kind":"a"}`, `{"kind":"b"}`} {
			got := e.do(t, "POST", "/v1/things", body, "Idempotency-Key", "k")
			p := got.problem(t)
			if e.store.Engine() == store.Postgres && p.Code != "idempotency_in_flight" {
				t.Errorf("%s: %s", body, got.body)
			}
			if !p.Retryable || p.RetryAfterMS == nil || got.Header.Get("Retry-After") == "" || (p.Status != 409 && p.Status != 503) {
				t.Errorf("%s: status %d: %s", body, p.Status, got.body)
			}
		}
		close(release)
		wg.Wait()
		if first.Status != 201 {
			t.Errorf("the first: status %d: %s", first.Status, first.body)
		}
		if got := e.do(t, "POST", "/v1/things", `{"kind":"b"}`, "Idempotency-Key", "k"); got.Status != 422 {
			t.Errorf("another body afterwards: status %d: %s", got.Status, got.body)
		}
		if got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k"); got.body != first.body {
			t.Errorf("the replay differs: %s", got.body)
		}
	})
}

func TestOutcomesOfRowsAreKeptWithoutTheirEffect(t *testing.T) {
	for name, f := range map[string]func() *fault.Fault{
		"404": fault.NotFound,
		"409": func() *fault.Fault { return fault.LeaseLost("job_1", "pending") },
		"412": fault.PreconditionFailed,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *edge) {
				e.during = func(model.Querier) error { return f() }
				first := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k")
				e.during = nil
				again := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k")
				if first.Status != f().Status || again.Status != first.Status || again.body != first.body {
					t.Errorf("%s\n%s", first.body, again.body)
				}
				if again.Header.Get("Content-Type") != "application/problem+json" || again.Header.Get("Idempotent-Replayed") != "true" {
					t.Errorf("the replay has other headers: %v", again.Header)
				}
				if n := e.effectsOf(t, "a"); n != 0 {
					t.Errorf("%d effects", n)
				}
			})
		})
	}
}

func TestOtherFaultsLeaveTheKeyFree(t *testing.T) {
	for name, err := range map[string]error{"422": fault.Invalid(), "503": fault.Unavailable("away"), "500": errSQL, "428": fault.PreconditionRequired()} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, e *edge) {
				e.during = func(model.Querier) error { return err }
				first := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k")
				if first.Status < 400 || e.effectsOf(t, "a") != 0 {
					t.Fatalf("status %d", first.Status)
				}
				e.during = nil
				if got := e.do(t, "POST", "/v1/things", `{"kind":"b"}`, "Idempotency-Key", "k"); got.Status != 201 {
					t.Errorf("the key is taken: %d %s", got.Status, got.body)
				}
			})
		})
	}
}

func TestAPanicLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		e.during = func(model.Querier) error { panic("boom") }
		if got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k"); got.problem(t).Code != "internal" {
			t.Fatalf("status %d: %s", got.Status, got.body)
		}
		e.during = nil
		if got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Idempotency-Key", "k"); got.Status != 201 || e.effectsOf(t, "a") != 1 {
			t.Errorf("status %d: %s", got.Status, got.body)
		}
	})
}

type claimed struct {
	Jobs []string `json:"jobs"`
}

// A route like a claim: it waits before its transaction, an empty answer is not
// kept, and a replay does not wait.
func TestHooksAroundTheTransaction(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		var waits, rounds, checks int
		var found []string
		claim := func(context.Context, model.Querier, coltype.Time, *nothing) (web.Answer[claimed], error) {
			return web.Answer[claimed]{Body: claimed{append([]string{}, found...)}, Check: func(now coltype.Time, _ *claimed) (bool, error) {
				checks++
				if now.IsZero() {
					t.Error("Check got no time")
				}
				return false, nil
			}}, nil
		}
		web.Write(e.API, web.Op{Method: "POST", Path: "/v1/claim", ID: "claim", Scope: web.ScopeJobsWork}, claim, web.Hooks[nothing, claimed]{
			Before: func(context.Context, *nothing) error { waits++; return nil },
			Keep:   func(c *claimed) bool { return len(c.Jobs) > 0 },
			Again:  func(context.Context, *nothing) bool { rounds++; return rounds%2 == 1 },
		})
		empty := e.do(t, "POST", "/v1/claim", "", "Idempotency-Key", "k")
		if empty.Status != 200 || empty.body != "{\"jobs\":[]}\n" || waits != 2 {
			t.Fatalf("status %d, waited %d times: %s", empty.Status, waits, empty.body)
		}
		found = []string{"job_1"}
		full := e.do(t, "POST", "/v1/claim", "", "Idempotency-Key", "k")
		if full.body != "{\"jobs\":[\"job_1\"]}\n" || full.Header.Get("Idempotent-Replayed") != "" {
			t.Fatalf("an empty answer was kept: %s", full.body)
		}
		waits, checks = 0, 0
		again := e.do(t, "POST", "/v1/claim", "", "Idempotency-Key", "k")
		if again.body != full.body || again.Header.Get("Idempotent-Replayed") != "true" || waits != 0 || checks != 0 {
			t.Errorf("replay %s, waited %d times, checked %d times", again.body, waits, checks)
		}
	})
}

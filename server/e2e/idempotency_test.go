package e2e

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

const keyed = `{"kind":"review","payload":1}`

func TestSameKeyWithAnotherBodyIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		first := s.Must(201, "/v1/jobs", keyed, "Idempotency-Key", "k")
		for range 2 {
			if a := s.Post("/v1/jobs", `{"kind":"review","payload":2}`, "Idempotency-Key", "k"); a.Status != 422 || a.Str("code") != "idempotency_key_reused" {
				t.Errorf("another body: %s", a)
			}
			if a := s.Post("/v1/jobs", keyed, "Idempotency-Key", "k"); !bytes.Equal(a.Body, first.Body) || a.Status != 201 {
				t.Errorf("the first body again: %s, first %s", a, first)
			}
		}
		if n := s.count("jobs"); n != 1 {
			t.Errorf("%d jobs", n)
		}
	})
}

// TestSameKeyWithAnotherBodyIsRefusedWhileTheFirstRuns holds the first request
// up inside its transaction.
func TestSameKeyWithAnotherBodyIsRefusedWhileTheFirstRuns(t *testing.T) {
	t.Parallel()
	s := serveOn(t, store.Postgres, store.Config{})
	s.Must(201, "/v1/jobs", `{"kind":"review"}`)
	release := s.db.hold("lock table jobs in access exclusive mode")
	var first, other apitest.Answer
	var wg sync.WaitGroup
	wg.Go(func() { first = s.Post("/v1/jobs", keyed, "Idempotency-Key", "k") })
	s.awaitBlocked(t, "JobInsertMany")
	wg.Go(func() { other = s.Post("/v1/jobs", `{"kind":"review","payload":2}`, "Idempotency-Key", "k") })
	s.awaitBlocked(t, "IdempotencyKeyInsert")
	release()
	wg.Wait()
	switch {
	case first.Status == 503: // held up for longer than the server waits for locks
		t.Logf("first %s, other %s", first, other)
	case first.Status != 201 || other.Status != 422 && other.Str("code") != "idempotency_in_flight":
		t.Errorf("first %s, other %s", first, other)
	}
}

// awaitBlocked waits until a statement of that name waits for a lock.
func (in *inProcess) awaitBlocked(t *testing.T, statement string) {
	t.Helper()
	apitest.Await(t, statement+" waits", func() bool { return blocked(in.db, statement) })
}

// blocked goes by the statement: background passes wait for locked tables too.
func blocked(d *beside, statement string) bool {
	return d.number(`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
		and query like '-- name: ' || $1 || ' %'`, statement) > 0
}

func TestFiftyRequestsUnderOneKeyHaveOneEffect(t *testing.T) {
	t.Parallel()
	eachFleet(t, func(t *testing.T, s *inProcess, through []*apitest.Client) {
		var bodies, seen tally
		together(50, func(i int) {
			a := through[i%len(through)].Post("/v1/jobs", keyed, "Idempotency-Key", "k")
			switch {
			case a.Status == 201:
				bodies.add(string(a.Body))
				seen.add("replayed " + a.Header.Get("Idempotent-Replayed"))
			case a.Status == http.StatusConflict && a.Str("code") == "idempotency_in_flight" && a.Header.Get("Retry-After") != "":
				seen.add("in flight")
			default:
				t.Errorf("under one key: %s", a)
			}
		})
		if len(bodies.n) != 1 || seen.n["replayed "] != 1 {
			t.Errorf("%v, bodies %v", seen.n, bodies.n)
		}
		if n := s.count("jobs"); n != 1 {
			t.Errorf("%d jobs", n)
		}
	})
}

// TestKilledWhileTheEffectWaitsTheKeyIsFree: the key and the effect commit
// together, so a request that dies between the two leaves neither.
func TestKilledWhileTheEffectWaitsTheKeyIsFree(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, p *process) {
		p.Must(201, "/v1/jobs", `{"kind":"review","key":"k"}`)
		lock := "lock table jobs in access exclusive mode"
		if p.store.Engine() == store.SQLite {
			lock = "update jobs set updated_at = updated_at" // holds the one writer
		}
		release := p.db.hold(lock)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		sent := make(chan error, 1)
		go func() {
			_, err := p.Try(ctx, http.MethodPost, "/v1/jobs", keyed, "Idempotency-Key", "k")
			sent <- err
		}()
		if p.store.Engine() == store.Postgres {
			apitest.Await(t, "the effect waits", func() bool { return blocked(p.db, "JobInsertMany") })
		} else {
			p.Get("/v1/whoami")
		}
		p.kill9()
		if err := <-sent; err == nil {
			t.Error("the killed request was answered")
		}
		release()
		p.restart()
		if a := p.Must(201, "/v1/jobs", keyed, "Idempotency-Key", "k"); a.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("a replay of nothing: %s", a)
		}
		if n := p.db.number("select count(*) from jobs"); n != 2 {
			t.Errorf("%d jobs", n)
		}
	})
}

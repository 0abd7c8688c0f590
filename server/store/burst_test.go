package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// burst has 64 read at once.
func burst(t *testing.T, s *store.Store) {
	t.Helper()
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if _, err := s.MetaGet(t.Context(), model.MetaGetParams{Key: "k"}); err != nil && !store.NotFound(err) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestColdPoolServesABurst(t *testing.T) {
	t.Parallel()
	dbtest.EachWith(t, dbtest.Whole, store.Config{MaxConns: 16}, burst)
}

// As a server does that was just restarted, or is far away. 16 connections that were
// made one after the other would take eight seconds.
func TestBurstIsServedWhileConnectionsComeSlowly(t *testing.T) {
	t.Parallel()
	wire, raw := dbtest.Through(t, dbtest.Whole(t, store.Postgres))
	wire.Set(func(p *dbtest.Proxy) { p.Slow = 500 * time.Millisecond })
	burst(t, dbtest.Open(t, store.Config{URL: raw, MaxConns: 16, Waits: store.Waits{Conn: 6 * time.Second}}))
}

package server_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

func TestADrainingReplicaRefusesNewClaimsWhetherTheyWaitOrNot(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		srv := server.New(server.Config{Version: "test", Log: slog.New(slog.DiscardHandler)}, s, make([]byte, 32))
		a := newAPIOn(t, s, srv.Handler())
		srv.Drain()
		for _, body := range []string{
			`{"worker":"w","kinds":["review"]}`,
			`{"worker":"w","kinds":["review"],"wait_seconds":30}`,
		} {
			if got := a.Post("/v1/jobs/claim", body); got.Status != http.StatusServiceUnavailable {
				t.Errorf("%s: %s", body, got)
			}
		}
	})
}

// Not parallel: it looks for a claim that waits among all goroutines.
func TestAClaimThatWaitsIsAnsweredEmptyWhenTheReplicaDrains(t *testing.T) {
	for _, engine := range []string{store.SQLite, store.Postgres} {
		t.Run(engine, func(t *testing.T) {
			s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, engine)})
			srv := server.New(server.Config{Version: "test", Log: slog.New(slog.DiscardHandler)}, s, make([]byte, 32))
			a := newAPIOn(t, s, srv.Handler())
			answered := make(chan apitest.Answer)
			go func() {
				answered <- a.Post("/v1/jobs/claim", `{"worker":"w","kinds":["review"],"wait_seconds":30}`)
			}()
			awaited(t)
			srv.Drain()
			if got := <-answered; got.Status != http.StatusOK || !strings.Contains(got.String(), `"jobs":[]`) {
				t.Errorf("%s", got)
			}
		})
	}
}

// awaited returns once a claim has looked in vain and waits.
func awaited(t *testing.T) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("(*routes).await")) {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal("no claim waits")
		}
	}
}

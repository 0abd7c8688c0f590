package server_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

func TestADrainingReplicaRefusesNewClaimsWhetherTheyWaitOrNot(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		srv := server.New(server.Config{Version: "test", Log: slog.New(slog.DiscardHandler)}, s, make([]byte, 32))
		a := newAPIOn(t, s, srv.Handler())
		srv.Drain()
		for _, body := range []string{
			`{"worker":"w","kinds":["review"]}`,
			`{"worker":"w","kinds":["review"],"wait_seconds":30}`,
		} {
			if w := a.claim(body); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %d %s", body, w.Code, w.Body)
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
			answered := make(chan *httptest.ResponseRecorder)
			go func() { answered <- a.claim(`{"worker":"w","kinds":["review"],"wait_seconds":30}`) }()
			awaited(t)
			srv.Drain()
			if w := <-answered; w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"jobs":[]`) {
				t.Errorf("%d %s", w.Code, w.Body)
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

// claim is one claim, answered.
func (a *api) claim(body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/v1/jobs/claim", bytes.NewBufferString(body))
	r.Header.Set("Authorization", "Bearer "+a.token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, r)
	return w
}

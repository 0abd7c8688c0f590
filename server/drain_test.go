package server_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stint-run/stint/server"
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
			r := httptest.NewRequest("POST", "/v1/jobs/claim", bytes.NewBufferString(body))
			r.Header.Set("Authorization", "Bearer "+a.token)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			a.handler.ServeHTTP(w, r)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %d %s", body, w.Code, w.Body)
			}
		}
	})
}

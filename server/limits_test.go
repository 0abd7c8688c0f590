package server_test

import (
	"fmt"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestTimeLimitIsASecondToAWeekOrNone on each request that takes one.
func TestTimeLimitIsASecondToAWeekOrNone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		for _, req := range []struct{ method, path, pointer, body string }{
			{"PUT", "/v1/kinds/", "/timeout_seconds", `{"lease_seconds":60,"max_attempts":3,"backoff_base_seconds":5,"backoff_cap_seconds":20,"timeout_seconds":%s}`},
			{"POST", "/v1/jobs", "/timeout_seconds", `{"kind":"review","timeout_seconds":%s}`},
			{"POST", "/v1/jobs/batch", "/items/0/timeout_seconds", `{"items":[{"kind":"review","timeout_seconds":%s}]}`},
			{"POST", "/v1/jobs/claim", "/timeout_seconds", `{"worker":"w","kinds":["sync"],"timeout_seconds":%s}`},
		} {
			for _, limit := range []string{"1", "604800", "null", "0", "604801", "-1", "1.5", `"1"`} {
				path := req.path
				if req.method == "PUT" {
					path += apitest.Unique("kind")
				}
				got := a.Call(req.method, path, fmt.Sprintf(req.body, limit))
				if good := limit == "1" || limit == "604800" || limit == "null"; good != (got.Status < 300) ||
					!good && (got.Status != 422 || got.Str("errors.0.pointer") != req.pointer) {
					t.Errorf("%s %s with %s: %s", req.method, path, limit, got)
				}
			}
		}
	})
}

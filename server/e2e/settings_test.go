package e2e

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// Settings of serve that no other test of this package sees at work: each is seen by what it changes.
func TestSettingsOfServeHaveTheirEffect(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, engine string) {
		p := start(t, engine, "--idempotency-ttl", "1m", "--reap-every", "150ms", "--pg-max-conns", "7", "--verbose")
		t.Run("idempotency-ttl", func(t *testing.T) {
			enqueue := func() string {
				return p.Must(201, "/v1/jobs", `{"kind":"kept"}`, "Idempotency-Key", "k").Str("job.id")
			}
			first := enqueue()
			if again := enqueue(); again != first {
				t.Errorf("within the time the key brings another job: %s, then %s", first, again)
			}
			dbtest.Past(t, p.store, "idempotency_keys", "created_at", 61*time.Second)
			if later := enqueue(); later == first {
				t.Error("the key still brings the first job after its time")
			}
		})
		t.Run("reap-every", func(t *testing.T) {
			p.Must(201, "/v1/jobs", `{"kind":"lost"}`)
			p.Must(200, "/v1/jobs/claim", `{"worker":"w","kinds":["lost"]}`)
			dbtest.Past(t, p.store, "jobs", "lease_expires_at", time.Hour)
			apitest.Await(t, "the reaper", func() bool { return p.Get("/v1/jobs?kind=lost").Str("data.0.state") == "pending" })
			// By default there are 10 s between two passes.
			apitest.Within(t, "ten passes of the reaper", time.Minute, func() bool { return p.passes("run-reaper") >= 10 })
		})
		t.Run("verbose", func(t *testing.T) {
			apitest.Await(t, "a line about a health check", func() bool { return healthCheck.MatchString(p.log.String()) })
		})
		if engine == store.Postgres {
			t.Run("pg-max-conns", func(t *testing.T) {
				if got := fmt.Sprint(p.Get("/readyz?verbose").At("replica.pool.max")); got != "7" {
					t.Errorf("the pool holds %v", got)
				}
			})
		}
	})
}

var healthCheck = regexp.MustCompile(`level=DEBUG .*/readyz`)

// passes is how many passes of a loop have ended.
func (p *process) passes(loop string) (n int64) {
	var h struct {
		Replica struct {
			Loops []struct {
				Name   string
				Passes int64
			}
		}
	}
	p.Get("/readyz?verbose").Into(p.t, &h)
	for _, l := range h.Replica.Loops {
		if l.Name == loop {
			n = l.Passes
		}
	}
	return n
}

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
		p := start(t, engine, "--idempotency-ttl", "1m", "--reap-every", "150ms", "--pg-max-conns", "7", "--verbose",
			"--superseded-ttl", "1h", "--tombstone-ttl", "2h", "--batch-ttl", "3h")
		t.Run("ttls of records", func(t *testing.T) { p.sweepsInTime() })
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

// sweepsInTime makes rows that are older than the three times allow, and younger than
// what is kept by default.
func (p *process) sweepsInTime() {
	id := connection(p.Client, "swept")
	p.Must(200, "/v1/connections/"+id+"/records", `[{"stream":"loans","data":{"id":"a","n":1}},{"stream":"loans","data":{"id":"a","n":2}},`+
		`{"stream":"loans","data":{"id":"b"}},{"stream":"loans","op":"delete","key":"b"}]`)
	dbtest.SQL(p.t, p.store, "insert into ingest_batches (connection_id, batch_id, owner_id, device, body_hash, state, durable_lines, accepted_count, "+
		"unchanged_count, checkpoint_count, rejected_count, rejections, created_at, updated_at) select id, 'b', owner_id, '', '', 'processing', 0, 0, 0, 0, 0, '[]', "+
		"created_at, updated_at from connections where id = $1", id)
	dbtest.Past(p.t, p.store, "record_versions", "superseded_at", 61*time.Minute)
	dbtest.Past(p.t, p.store, "records", "deleted_at", 121*time.Minute)
	dbtest.Past(p.t, p.store, "ingest_batches", "updated_at", 181*time.Minute)
	rows := "select (select count(*) from record_versions where connection_id = $1) + (select count(*) from records where connection_id = $1 and key = 'b')" +
		" + (select count(*) from ingest_batches where connection_id = $1)"
	apitest.Await(p.t, "the sweep of records", func() bool { return dbtest.Get[int](p.t, p.store, rows, id) == 0 })
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

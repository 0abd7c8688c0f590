package e2e

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

func TestSixtyFourClientsOnSQLiteMeetNoFault(t *testing.T) {
	t.Parallel()
	mixedLoad(t, start(t, store.SQLite), 2*time.Second)
}

// mixedLoad lets 64 clients enqueue, claim, heartbeat, finish and read. Each
// answer is the expected one, and what was acknowledged is there afterwards.
func mixedLoad(t *testing.T, p *process, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var enqueued, completed atomic.Int64
	together(64, func(i int) {
		for n := 0; ctx.Err() == nil; n++ {
			want(p.Client, 201, "/v1/jobs", fmt.Sprintf(`{"kind":"review","key":"%d-%d","payload":{"n":%d}}`, i, n, n))
			enqueued.Add(1)
			a := want(p.Client, 200, "/v1/jobs/claim", `{"worker":"w","kinds":["review","sync"]}`)
			if a.Len("jobs") == 0 {
				continue
			}
			j := held{id: a.Str("jobs.0.id"), token: a.Str("jobs.0.lease_token")}
			want(p.Client, 200, j.path("heartbeat"), j.with(`"progress":1`))
			p.Get("/v1/jobs?state=pending&limit=5")
			want(p.Client, 200, j.path("complete"), j.with(`"result":1`))
			completed.Add(1)
			p.Get("/v1/runs?job_id=" + j.id)
		}
	})
	t.Logf("%d enqueued, %d completed in %v", enqueued.Load(), completed.Load(), d)
	if n := p.db.number("select count(*) from jobs"); n != enqueued.Load() {
		t.Errorf("%d jobs, %d were acknowledged", n, enqueued.Load())
	}
	if n := p.db.number("select count(*) from jobs where state = 'succeeded'"); n != completed.Load() || n == 0 {
		t.Errorf("%d succeeded, %d were acknowledged", n, completed.Load())
	}
}

// want posts, and reports any other status.
func want(c *apitest.Client, status int, path, body string) apitest.Answer {
	c.T.Helper()
	a := c.Post(path, body)
	if a.Status != status {
		c.T.Errorf("POST %s: want %d, got %s", path, status, a)
	}
	return a
}

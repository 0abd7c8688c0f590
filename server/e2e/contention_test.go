package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

// together runs fn n times at once.
func together(n int, fn func(i int)) {
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			fn(i)
		})
	}
	close(begin)
	wg.Wait()
}

// tally counts answers by whatever was noted of them.
type tally struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[what]++
}

func TestFiftyEnqueuesOfOneKeyMakeOneJob(t *testing.T) {
	t.Parallel()
	eachFleet(t, func(t *testing.T, s *inProcess, through []*apitest.Client) {
		for _, body := range []string{
			`{"kind":"review","key":"k"}`,
			`{"kind":"review","repo":{"forge":"gitea","host":"git.example","namespace":"Acme","name":"Site"},"issue_number":1}`,
		} {
			oneJob(t, body, through)
		}
	})
}

// oneJob enqueues 50 times at once, through the clients by turns.
func oneJob(t *testing.T, body string, through []*apitest.Client) {
	t.Helper()
	var statuses, ids tally
	together(50, func(i int) {
		a := through[i%len(through)].Post("/v1/jobs", body)
		statuses.add(fmt.Sprint(a.Status, a.At("deduplicated")))
		ids.add(a.Str("job.id"))
	})
	if len(ids.n) != 1 || statuses.n["201 false"] != 1 || statuses.n["200 true"] != 49 {
		t.Errorf("50 enqueues of %s: %v, ids %v", body, statuses.n, ids.n)
	}
}

// replicas are two servers on one PostgreSQL database, one of them a process of
// its own: they share nothing else.
func replicas(t *testing.T) (a *inProcess, b *process) {
	t.Helper()
	a = serveOn(t, store.Postgres, store.Config{})
	b = startOn(t, a.Store)
	b.Token = a.Token // a key is its token's
	return a, b
}

// eachFleet runs fn through all servers that a database may have: two on
// PostgreSQL, one on SQLite.
func eachFleet(t *testing.T, fn func(t *testing.T, s *inProcess, through []*apitest.Client)) {
	t.Helper()
	t.Run(store.SQLite, func(t *testing.T) {
		t.Parallel()
		s := serveOn(t, store.SQLite, store.Config{})
		fn(t, s, []*apitest.Client{s.Client})
	})
	t.Run(store.Postgres, func(t *testing.T) {
		t.Parallel()
		a, b := replicas(t)
		fn(t, a, []*apitest.Client{a.Client, b.Client})
	})
}

func TestHundredClaimersTakeEachJobOnce(t *testing.T) {
	t.Parallel()
	eachFleet(t, func(t *testing.T, s *inProcess, through []*apitest.Client) {
		jobs := 1000
		if s.Store.Engine() == store.SQLite {
			jobs = 300 // each claim there waits for the disk
		}
		enqueue(s.Client, jobs)
		claimAll(t, jobs, 100, through)
		if n := s.count("runs"); n != int64(jobs) {
			t.Errorf("%d runs, want %d", n, jobs)
		}
		if n := s.count("jobs where attempt <> 1 or state <> 'claimed'"); n != 0 {
			t.Errorf("%d jobs are not claimed once", n)
		}
	})
}

// enqueue enqueues n jobs of the kind review, their payload their number.
func enqueue(c *apitest.Client, n int) {
	c.T.Helper()
	for first := 0; first < n; first += 500 {
		var items []string
		for i := first; i < min(n, first+500); i++ {
			items = append(items, fmt.Sprintf(`{"kind":"review","payload":%d}`, i))
		}
		c.Must(200, "/v1/jobs/batch", `{"items":[`+strings.Join(items, ",")+`]}`)
	}
}

// claimAll claims with so many claimers until all find the queue empty, and
// wants every one of the jobs once, and never more than was asked for.
func claimAll(t *testing.T, jobs, claimers int, through []*apitest.Client) {
	t.Helper()
	var ids tally
	together(claimers, func(i int) {
		limit := 1 + i%3*2
		for {
			a := through[i%len(through)].Post("/v1/jobs/claim", fmt.Sprintf(`{"worker":"w%d","kinds":["review"],"limit":%d}`, i, limit))
			n := a.Len("jobs")
			if a.Status != http.StatusOK || n > limit {
				t.Errorf("claim of %d: %s", limit, a)
			}
			if n == 0 {
				return
			}
			for j := range n {
				ids.add(a.Str(fmt.Sprintf("jobs.%d.id", j)))
			}
		}
	})
	for id, n := range ids.n {
		if n != 1 {
			t.Errorf("%s was handed out %d times", id, n)
		}
	}
	if len(ids.n) != jobs {
		t.Errorf("%d jobs were handed out, want %d", len(ids.n), jobs)
	}
}

// TestBatchesInOppositeOrderDoNotBlockEachOther: both lock the same rows.
func TestBatchesInOppositeOrderDoNotBlockEachOther(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		for range 3 {
			enqueue(s.Client, 20)
			a := s.Must(200, "/v1/jobs/claim", `{"worker":"w","kinds":["review"],"limit":20}`)
			var items []string
			for i := range 20 {
				at := fmt.Sprintf("jobs.%d.", i)
				items = append(items, `{"id":"`+a.Str(at+"id")+`","lease_token":"`+a.Str(at+"lease_token")+`"}`)
			}
			together(6, func(i int) {
				mine := slices.Clone(items)
				if i%2 == 1 {
					slices.Reverse(mine)
				}
				if a := s.Post("/v1/jobs/complete", `{"items":[`+strings.Join(mine, ",")+`]}`); a.Status != http.StatusOK {
					t.Errorf("a batch: %s", a)
				}
			})
		}
		if n := s.count("jobs where state = 'succeeded'"); n != 60 {
			t.Errorf("%d jobs succeeded, want 60", n)
		}
	})
}

// TestClaimPassesOverWhatAnotherTransactionHolds: with one of two jobs locked,
// two claimers of two kinds get the other one and an empty answer, at once.
func TestClaimPassesOverWhatAnotherTransactionHolds(t *testing.T) {
	t.Parallel()
	p := serveOn(t, store.Postgres, store.Config{})
	p.Must(201, "/v1/jobs", `{"kind":"review"}`)
	p.Must(201, "/v1/jobs", `{"kind":"implement"}`)
	third := p.Must(201, "/v1/jobs", `{"kind":"sync"}`).Str("job.id")
	release := p.db.hold("select id from jobs where id = '" + third + "' for update")
	var got tally
	together(2, func(i int) {
		a := p.Post("/v1/jobs/claim", `{"worker":"w","kinds":["sync","review","implement"]}`)
		got.add(fmt.Sprint(a.Len("jobs"), " ", a.Str("jobs.0.kind")))
	})
	if got.n["1 review"] != 1 || got.n["1 implement"] != 1 {
		t.Errorf("with a foreign lock on a third job: %v", got.n)
	}
	release()
	if a := p.Must(200, "/v1/jobs/claim", `{"worker":"w","kinds":["sync"]}`); a.Str("jobs.0.id") != third {
		t.Errorf("after it: %s", a)
	}
}

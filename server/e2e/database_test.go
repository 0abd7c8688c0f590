package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestReadOnlyDatabaseIsReportedAndLeftByItself: after a failover the server
// that was the primary takes no writes. Nobody restarts anything.
func TestReadOnlyDatabaseIsReportedAndLeftByItself(t *testing.T) {
	t.Parallel()
	p := startOn(t, dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)}))
	readOnly(p.db, "on")
	apitest.Await(t, "writes are refused", func() bool {
		return p.Post("/v1/jobs", keyed).Status == http.StatusServiceUnavailable
	})
	if a := p.Get("/readyz"); a.Status != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %s", a)
	}
	if a := p.Get("/livez"); a.Status != http.StatusOK {
		t.Errorf("/livez: %s", a)
	}
	before := p.db.number("select count(*) from jobs")
	readOnly(p.db, "off")
	apitest.Await(t, "ready", p.Client.Ready)
	p.Must(201, "/v1/jobs", keyed)
	if n := p.db.number("select count(*) from jobs"); n != before+1 {
		t.Errorf("%d jobs, before %d", n, before)
	}
}

// readOnly makes the database refuse writes, or take them again, and cuts the
// connections of everybody else.
func readOnly(d *beside, setting string) {
	database := d.query("select current_database()")[0][0]
	for _, statement := range []string{
		"set default_transaction_read_only = off",
		fmt.Sprintf("alter database %s set default_transaction_read_only = %s", database, setting),
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
	} {
		d.exec(statement)
	}
}

// TestSmallPoolHangsNowhere: nobody who holds a connection waits for a second
// one, so that one is enough for every route.
func TestSmallPoolHangsNowhere(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			s := serveOn(t, store.Postgres, store.Config{MaxConns: size})
			targets := map[string]target{}
			ops := operations(t, s.Client)
			for _, o := range ops {
				targets[o.id] = rows[o.id](s.Client)
			}
			began := time.Now()
			var served tally
			together(20, func(i int) {
				for n := range ops {
					o := ops[(n+i)%len(ops)]
					a := o.send(s.Client, targets[o.id])
					served.add(fmt.Sprint(a.Status))
				}
				if a := s.Get("/readyz"); a.Status != http.StatusOK && a.Status != http.StatusServiceUnavailable {
					t.Errorf("/readyz: %s", a)
				}
			})
			if took := time.Since(began); took > 45*time.Second || served.n["200"] == 0 {
				t.Errorf("%v, took %v", served.n, took)
			}
			apitest.Await(t, "ready", s.Client.Ready)
		})
	}
}

// behind starts a server whose way to PostgreSQL a test can cut.
func behind(t *testing.T, mode string) (*process, *proxy) {
	t.Helper()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)})
	at, err := url.Parse(dbtest.URLOf(t, s))
	if err != nil {
		t.Fatal(err)
	}
	host := at.Host
	way := newProxy(t, func() string { return host })
	way.set(mode)
	at.Host = way.addr()
	p := newProcess(t, at.String())
	p.env = []string{apitest.ProductWaits}
	p.store, p.db, p.Token = s, lookBeside(t, dbtest.URLOf(t, s)), apitest.Token(t, s, "ada", "admin")
	p.launch()
	return p, way
}

// slowest is the longest that a call was allowed to take while the database is
// away: 2 s, and what a busy machine adds.
const slowest = 3500 * time.Millisecond

// TestDatabaseThatIsAwayIsWaitedFor: at the start, under load, by a cut and by
// silence. Live stays green, ready red, calls are refused soon, what was
// acknowledged is kept, and the server comes back by itself.
func TestDatabaseThatIsAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	p, way := behind(t, closed)
	apitest.Await(t, "listening", func() bool {
		a, err := p.Try(context.Background(), http.MethodGet, "/livez", "")
		return err == nil && a.Status == http.StatusOK
	})
	if a := p.Get("/readyz"); a.Status != http.StatusServiceUnavailable {
		t.Errorf("/readyz without a database: %s", a)
	}
	refusedSoon(t, p)
	way.set(open)
	apitest.Await(t, "ready", p.Client.Ready)

	var mu sync.Mutex
	acked := map[string]bool{}
	var ended atomic.Bool
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for !ended.Load() {
				if a := p.Post("/v1/jobs", keyed); a.Status == http.StatusCreated {
					mu.Lock()
					acked[a.Str("job.id")] = true
					mu.Unlock()
				}
			}
		})
	}
	for _, mode := range []string{closed, silent} {
		way.set(mode)
		apitest.Await(t, "ready is red", func() bool { return p.Get("/readyz").Status == http.StatusServiceUnavailable })
		for range 3 {
			refusedSoon(t, p)
		}
		way.set(closed) // what went silent ends
		way.set(open)
		apitest.Await(t, "ready", p.Client.Ready)
		apitest.Await(t, "a write is taken", func() bool { return p.Post("/v1/jobs", keyed).Status == http.StatusCreated })
	}
	ended.Store(true)
	load.Wait()
	for id := range acked {
		if n := p.db.number("select count(*) from jobs where id = '" + id + "'"); n != 1 {
			t.Errorf("%s was acknowledged and is gone", id)
		}
	}
	t.Logf("%d acknowledged", len(acked))
}

// refusedSoon wants 503 within the time that callers are promised.
func refusedSoon(t *testing.T, p *process) {
	t.Helper()
	for _, call := range []func() apitest.Answer{
		func() apitest.Answer { return p.Get("/v1/runs") },
		func() apitest.Answer { return p.Post("/v1/jobs", keyed) },
	} {
		began := time.Now()
		a := call()
		took := time.Since(began)
		t.Logf("refused after %v", took)
		if took > slowest || a.Status != http.StatusServiceUnavailable {
			t.Errorf("after %v: %s", took, a)
		}
	}
	began := time.Now()
	if a := p.Get("/livez"); a.Status != http.StatusOK || time.Since(began) > time.Second {
		t.Errorf("/livez after %v: %s", time.Since(began), a)
	}
}

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// fleet is replicas on one database behind a load balancer, which sends requests
// to those that /readyz calls ready, by turns.
type fleet struct {
	t     *testing.T
	store *store.Store
	token string

	mu    sync.Mutex
	all   []*process
	green []*process // as of the last poll
	turn  int
}

const pollEvery = 100 * time.Millisecond

func newFleet(t *testing.T, s *store.Store, size int) *fleet {
	t.Helper()
	f := &fleet{t: t, store: s, token: apitest.Token(t, s, "ada", "admin")}
	for range size {
		f.add(binary)
	}
	for _, p := range f.all {
		p.awaitReady()
	}
	ctx, cancel := context.WithCancel(context.Background())
	var polling sync.WaitGroup
	polling.Go(func() { f.watch(ctx) })
	t.Cleanup(func() {
		cancel()
		polling.Wait()
	})
	return f
}

// add launches a replica of a build.
func (f *fleet) add(build func() (string, error)) *process {
	// On a busy machine a round of polls takes more than the default of a second.
	p := newProcess(f.t, dbtest.URLOf(f.t, f.store), "--pg-max-conns", "6", "--drain-delay", "3s")
	p.build, p.store, p.Token = build, f.store, f.token
	p.launch()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, p)
	return p
}

// watch polls the health of all replicas, as a load balancer does.
func (f *fleet) watch(ctx context.Context) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		f.mu.Lock()
		all := append([]*process(nil), f.all...)
		f.mu.Unlock()
		var green []*process
		for _, p := range all {
			if p.Ready() {
				green = append(green, p)
			}
		}
		f.mu.Lock()
		f.green = green
		f.mu.Unlock()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// pick is the next replica that was ready when it was last looked at.
func (f *fleet) pick() *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.green) == 0 {
		return nil
	}
	f.turn++
	return f.green[f.turn%len(f.green)]
}

// patience is how long a client asks again before it calls a request failed.
const patience = 20 * time.Second

// send is a client of the fleet: a refused connection is tried at another
// replica, 503 and 429 again after the time that the answer names. Whatever
// else is no 2xx has failed, and so has a connection that breaks. ok is false
// for those, retried says how often an answer sent it back.
func (f *fleet) send(method, path, body, key string) (a apitest.Answer, retried int, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for ctx.Err() == nil {
		p := f.pick()
		if p == nil {
			<-time.After(pollEvery)
			continue
		}
		var headers []string
		if key != "" {
			headers = []string{"Idempotency-Key", key}
		}
		a, err := p.Try(ctx, method, path, body, headers...)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			retried++
			continue
		case err != nil:
			f.t.Errorf("%s %s: %v", method, path, err)
			return a, retried, false
		case a.Status == http.StatusServiceUnavailable || a.Status == http.StatusTooManyRequests:
			retried++
			seconds, _ := strconv.Atoi(a.Header.Get("Retry-After"))
			<-time.After(time.Duration(seconds) * time.Second)
			continue
		case a.Status >= 300:
			f.t.Errorf("%s %s: %s", method, path, a)
			return a, retried, false
		}
		return a, retried, true
	}
	f.t.Errorf("%s %s: not served within %v", method, path, patience)
	return apitest.Answer{}, retried, false
}

// traffic is clients of a fleet that enqueue, claim, finish and list, and what
// they were told.
type traffic struct {
	fleet                      *fleet
	mu                         sync.Mutex
	requests, retried, failed  int
	slowest                    time.Duration
	enqueued, claimed, settled tally
	stop                       chan struct{}
	done                       sync.WaitGroup
}

func (f *fleet) load(clients int) *traffic {
	l := &traffic{fleet: f, stop: make(chan struct{})}
	for i := range clients {
		l.done.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.stop:
					return
				default:
					l.round(fmt.Sprintf("%d-%d", i, n))
				}
			}
		})
	}
	return l
}

// end stops the clients, and finishes what waits.
func (l *traffic) end() {
	close(l.stop)
	l.done.Wait()
	for n := 0; l.work(fmt.Sprint("rest-", n)); n++ {
	}
}

func (l *traffic) call(method, path, body, key string) (apitest.Answer, bool) {
	began := time.Now()
	a, retried, ok := l.fleet.send(method, path, body, key)
	took := time.Since(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests++
	l.retried += retried
	l.slowest = max(l.slowest, took)
	if !ok {
		l.failed++
	}
	return a, ok
}

func (l *traffic) round(name string) {
	if a, ok := l.call(http.MethodPost, "/v1/jobs", `{"kind":"review"}`, "enqueue-"+name); ok {
		l.enqueued.add(a.Str("job.id"))
	}
	l.work(name)
	l.call(http.MethodGet, "/v1/jobs?state=pending&limit=5", "", "")
}

// work claims a job and finishes it; false if there was none.
func (l *traffic) work(name string) bool {
	a, ok := l.call(http.MethodPost, "/v1/jobs/claim", `{"worker":"w","kinds":["review"]}`, "claim-"+name)
	if !ok || a.Len("jobs") == 0 {
		return false
	}
	j := held{id: a.Str("jobs.0.id"), token: a.Str("jobs.0.lease_token")}
	l.claimed.add(j.id)
	if _, ok = l.call(http.MethodPost, j.path("complete"), j.with(`"result":1`), "complete-"+name); ok {
		l.settled.add(j.id)
	}
	return true
}

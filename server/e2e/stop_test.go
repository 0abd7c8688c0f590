package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
)

// TestStoppingLosesNothingThatWasAcknowledged stops the server under 50 clients
// that enqueue and complete; the second SIGTERM changes nothing.
func TestStoppingLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, p *process) {
		enqueue(p.Client, 200)
		acked := &acknowledged{enqueued: map[string]bool{}, completed: map[string]bool{}}
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			apitest.Await(t, "work is under way", func() bool { return acked.size() > 60 })
			p.signal(syscall.SIGTERM)
			p.signal(syscall.SIGTERM)
			if code := p.exit(40 * time.Second); code != 0 {
				t.Errorf("exit code %d", code)
			}
		}()
		together(50, func(i int) {
			for acked.round(p, fmt.Sprint(i)) {
			}
		})
		<-stopped
		for id := range acked.enqueued {
			if n := p.db.number("select count(*) from jobs where id = '" + id + "'"); n != 1 {
				t.Errorf("%s was acknowledged and is gone", id)
			}
		}
		for id := range acked.completed {
			if n := p.db.number("select count(*) from jobs where id = '" + id + "' and state = 'succeeded'"); n != 1 {
				t.Errorf("the end of %s was acknowledged and is gone", id)
			}
		}
		if log := p.log.String(); !strings.Contains(log, "draining") || strings.Contains(log, "status=500") {
			t.Errorf("the log:\n%s", log)
		}
		t.Logf("%d enqueued, %d completed", len(acked.enqueued), len(acked.completed))
	})
}

// acknowledged is what 2xx answers said.
type acknowledged struct {
	mu                  sync.Mutex
	enqueued, completed map[string]bool
}

func (k *acknowledged) note(ids map[string]bool, id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ids[id] = true
}

func (k *acknowledged) size() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.enqueued) + len(k.completed)
}

// round enqueues, claims and completes; false once the server is gone.
func (k *acknowledged) round(p *process, worker string) bool {
	post := func(path, body string) (apitest.Answer, bool) {
		a, err := p.Try(context.Background(), http.MethodPost, path, body)
		if err == nil && a.Status >= 300 && a.Status != http.StatusServiceUnavailable {
			p.t.Errorf("POST %s: %s", path, a)
		}
		return a, err == nil && a.Status < 300
	}
	a, ok := post("/v1/jobs", `{"kind":"sync"}`)
	if !ok {
		return false
	}
	k.note(k.enqueued, a.Str("job.id"))
	if a, ok = post("/v1/jobs/claim", `{"worker":"w`+worker+`","kinds":["review"]}`); !ok {
		return false
	}
	if a.Len("jobs") == 0 {
		return true
	}
	j := held{id: a.Str("jobs.0.id"), token: a.Str("jobs.0.lease_token")}
	if _, ok = post(j.path("complete"), j.with("")); ok {
		k.note(k.completed, j.id)
	}
	return ok
}

// TestRequestInFlightFinishesWhileReadyIsRed stops the server between the two
// halves of a request's body.
func TestRequestInFlightFinishesWhileReadyIsRed(t *testing.T) {
	t.Parallel()
	eachOwn(t, func(t *testing.T, s *inProcess) {
		conn := dial(t, s.Client)
		defer conn.Close()
		head := "POST /v1/jobs HTTP/1.1\r\nHost: stint\r\nAuthorization: Bearer " + s.Token +
			"\r\nContent-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(keyed)) + "\r\n\r\n"
		if _, err := conn.Write([]byte(head + keyed[:5])); err != nil {
			t.Fatal(err)
		}
		s.awaitInFlight(1)
		stopped := make(chan error, 1)
		go func() { stopped <- s.Stop() }()
		apitest.Await(t, "ready is red", func() bool { return s.Admin.Get("/readyz").Str("code") == "draining" })
		apitest.Await(t, "new connections are refused", func() bool {
			s.CloseIdle()
			_, err := s.Try(context.Background(), http.MethodGet, "/livez", "")
			return err != nil
		})
		if _, err := conn.Write([]byte(keyed[5:])); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		text, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 201 ") {
			t.Errorf("%v: %s", err, text)
		}
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if n := s.count("jobs"); n != 1 {
			t.Errorf("%d jobs", n)
		}
	})
}

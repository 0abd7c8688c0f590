package e2e

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/notify"
	"github.com/stint-run/stint/server/store"
)

const waitingClaim = `{"worker":"w","kinds":["review"],"wait_seconds":30}`

// waiting sends a claim that waits, and returns once its request is written.
func waiting(c *apitest.Client, body string) <-chan apitest.Answer {
	sent, got := make(chan struct{}), make(chan apitest.Answer, 1)
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { close(sent) },
	})
	go func() {
		a, err := c.Try(ctx, http.MethodPost, "/v1/jobs/claim", body)
		if err != nil {
			c.T.Errorf("a waiting claim: %v", err)
		}
		got <- a
	}()
	<-sent
	return got
}

// TestWaitingClaimIsWokenByAnEnqueue: by its own polling, once a second, it
// would take half a second in the middle.
func TestWaitingClaimIsWokenByAnEnqueue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		var took []time.Duration
		for range 9 {
			claim := waiting(s.Client, waitingClaim)
			for range 3 {
				s.Get("/v1/whoami") // gives the claim the time to find nothing
			}
			began := time.Now()
			id := s.Must(201, "/v1/jobs", `{"kind":"review"}`).Str("job.id")
			a := <-claim
			took = append(took, time.Since(began))
			if a.Len("jobs") != 1 || a.Str("jobs.0.id") != id {
				t.Fatalf("woken to %s", a)
			}
		}
		slices.Sort(took)
		if took[4] > 300*time.Millisecond {
			t.Errorf("woken after %v", took)
		}
	})
}

func TestWaitingClaimIsAnsweredWhenTheServerStops(t *testing.T) {
	t.Parallel()
	eachOwn(t, func(t *testing.T, s *inProcess) {
		claims := []<-chan apitest.Answer{waiting(s.Client, waitingClaim), waiting(s.Client, waitingClaim)}
		s.awaitInFlight(len(claims))
		began := time.Now()
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		for _, claim := range claims {
			// One that had not looked yet is a new claim, and refused.
			a := <-claim
			if a.Status != http.StatusServiceUnavailable && (a.Status != http.StatusOK || a.Len("jobs") != 0) {
				t.Errorf("stopping, the claim got %s", a)
			}
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("stopping took %v", took)
		}
	})
}

func TestWaitingClaimFindsWorkThatBecomesDueOrIsAnotherReplicas(t *testing.T) {
	t.Parallel()
	a, b := replicas(t)
	claim := waiting(a.Client, waitingClaim)
	b.Must(201, "/v1/jobs", `{"kind":"review"}`)
	if got := <-claim; got.Len("jobs") != 1 {
		t.Errorf("another replica's: %s", got)
	}
	soon := a.Store.Now().Add(1500 * time.Millisecond)
	a.Must(201, "/v1/jobs", fmt.Sprintf(`{"kind":"review","run_at":%q}`, soon.Format(time.RFC3339Nano)))
	got := <-waiting(a.Client, waitingClaim)
	if got.Len("jobs") != 1 || a.Store.Now().Before(soon) {
		t.Errorf("not yet due: %s", got)
	}
}

// TestClientsThatGoAwayLeaveNothingBehind looks at the goroutines of the process,
// so it runs beside no other test.
func TestClientsThatGoAwayLeaveNothingBehind(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			s := serveOn(t, engine, store.Config{})
			apitest.Await(t, "the server's own goroutines", s.allBegun)
			before := goroutines()
			together(25, func(int) {
				for range 40 {
					abort(t, s.Client)
				}
			})
			apitest.Await(t, "every claim is served to its end", func() bool {
				return strings.Count(s.Log.String(), "route=/v1/jobs/claim") >= 1000
			})
			if !answers(s.Client) {
				t.Error("a claim is not answered meanwhile")
			}
			var left map[string]string
			defer func() {
				if t.Failed() {
					t.Logf("%d goroutines are left:\n\n%s", len(left), strings.Join(slices.Collect(maps.Values(left)), "\n\n"))
				}
			}()
			apitest.Await(t, "the goroutines end", func() bool {
				s.CloseIdle() // a slow machine makes the client open more than one connection, and they would stand for minutes
				left = goroutines()
				maps.DeleteFunc(left, func(number, _ string) bool { return before[number] != "" })
				return len(left) <= 5 // loops at work, and the wait for the next notification
			})
		})
	}
}

// allBegun reports whether all that a server runs beside requests has begun: it is ready a moment before.
func (s *inProcess) allBegun() bool {
	a, loops := s.Get("/readyz?verbose"), 0
	for _, stack := range goroutines() {
		loops += strings.Count(stack, "control.(*Runner).repeat(")
	}
	return loops == a.Len("replica.loops") && a.At("replica.notifications") != notify.Polling
}

// goroutines are the stacks of this process, by the words that each begins with: goroutine and its number.
func goroutines() map[string]string {
	text, all := make([]byte, 4<<20), map[string]string{}
	for stack := range strings.SplitSeq(string(text[:runtime.Stack(text, true)]), "\n\n") {
		number, _, _ := strings.Cut(stack, " [")
		all[number] = stack
	}
	return all
}

// abort sends a waiting claim, and goes.
func abort(t *testing.T, c *apitest.Client) {
	conn := dial(t, c)
	defer conn.Close()
	_, err := fmt.Fprintf(conn, "POST /v1/jobs/claim HTTP/1.1\r\nHost: stint\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", c.Token, len(waitingClaim), waitingClaim)
	if err != nil {
		t.Error(err)
	}
}

// answers reports whether a normal call is served.
func answers(c *apitest.Client) bool {
	a, err := c.Try(context.Background(), http.MethodPost, "/v1/jobs/claim", `{"worker":"w","kinds":["implement"]}`)
	return err == nil && a.Status == http.StatusOK
}

// dial is a bare connection to the server; one that cannot be had is closed.
func dial(t *testing.T, c *apitest.Client) net.Conn {
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.Base(), "http://"))
	if err != nil {
		t.Error(err)
		conn, _ = net.Pipe()
		conn.Close()
	}
	return conn
}

// raw sends bytes as they are and returns the answer's; the connection's end
// is the answer's.
func raw(t *testing.T, c *apitest.Client, request string) string {
	t.Helper()
	conn := dial(t, c)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	return string(text)
}

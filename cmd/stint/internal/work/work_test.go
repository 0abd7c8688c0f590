package work

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
)

// fake is a server whose answers a test writes, for what a real one does only
// at moments that cannot be hit: leases here last for less than a second.
type fake struct {
	mu    sync.Mutex
	calls []call
	reply func(f *fake, c call) (status int, body string)
	hold  func(c call, gone <-chan struct{}) // waits before the reply, if it is there
	stop  context.CancelFunc                 // ends the worker
}

type call struct{ action, key, body string }

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	action := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	f.mu.Lock()
	c := call{action, r.Header.Get("Idempotency-Key"), string(body)}
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	if f.hold != nil {
		f.hold(c, r.Context().Done())
	}
	f.mu.Lock()
	status, text := f.reply(f, c)
	f.mu.Unlock()
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// of is the calls of an action so far; the fake must be locked.
func (f *fake) of(action string) (found []call) {
	for _, c := range f.calls {
		if c.action == action {
			found = append(found, c)
		}
	}
	return found
}

func (f *fake) done(action string) []call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.of(action)
}

// actions is what the server was asked for, in order.
func (f *fake) actions() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := make([]string, len(f.calls))
	for i, c := range f.calls {
		names[i] = c.action
	}
	return strings.Join(names, " ")
}

const none = `{"jobs":[],"poll_after_ms":5}`

var leases atomic.Int64

// oneJob is a claim's answer with a job whose lease lasts for d.
func oneJob(d time.Duration) string {
	now := time.Now().UTC()
	return fmt.Sprintf(`{"jobs":[{"id":"job_1","kind":"k","attempt":1,"run_id":"run_1","lease_token":"secret-%d","updated_at":%q,"lease_expires_at":%q}],"poll_after_ms":0}`,
		leases.Add(1), now.Format(time.RFC3339Nano), now.Add(d).Format(time.RFC3339Nano))
}

const (
	finished = `{"job":{"id":"job_1","state":"succeeded"},"run":{"id":"run_1"}}`
	away     = `{"code":"unavailable","status":503,"retryable":true,"detail":"","errors":[]}`
	lost     = `{"code":"lease_lost","status":409,"detail":"","errors":[]}`
)

// startWork runs a worker against the fake until the test ends.
func startWork(t *testing.T, f *fake, c Config, script string) (ended chan error) {
	t.Helper()
	return startCommand(t, f, c, "/bin/sh", "-c", script)
}

func startCommand(t *testing.T, f *fake, c Config, command ...string) (ended chan error) {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	var err error
	if c.API, err = api.New(s.URL, "token", "test", nil); err != nil {
		t.Fatal(err)
	}
	c.Server, c.Kinds, c.Concurrency, c.Grace, c.Worker = s.URL, []string{"k"}, max(c.Concurrency, 1), cmp.Or(c.Grace, time.Second), "w"
	c.Command = command
	c.Stdout, c.Stderr, c.Log = io.Discard, io.Discard, slog.New(slog.DiscardHandler)
	var ctx context.Context
	ctx, f.stop = context.WithCancel(context.Background())
	ended = make(chan error, 1)
	go func() { ended <- Run(ctx, c) }()
	t.Cleanup(f.stop)
	return ended
}

func end(t *testing.T, ended chan error) {
	t.Helper()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(60 * time.Second):
		t.Fatal("the worker did not end")
	}
}

func TestALostClaimIsAskedForUnderItsKey(t *testing.T) {
	t.Parallel()
	f := &fake{reply: func(f *fake, c call) (int, string) {
		switch {
		case c.action == "claim" && len(f.of("claim")) < 3:
			return 503, away
		case c.action == "claim":
			return 200, oneJob(time.Minute)
		}
		return 200, finished
	}}
	end(t, startWork(t, f, Config{MaxJobs: 1}, "echo 1"))
	claims := f.done("claim")
	if len(claims) != 3 || claims[0].key == "" || claims[0] != claims[1] || claims[1] != claims[2] {
		t.Errorf("claims %+v", claims)
	}
}

// A proxy that answers for a server that is away ends no worker that has worked,
// and one that is sent to the wrong address at once.
func TestAStrangeAnswerEndsTheFirstClaimAndNoLaterOne(t *testing.T) {
	t.Parallel()
	f := &fake{reply: func(f *fake, c call) (int, string) {
		switch {
		case c.action != "claim":
			return 200, finished
		case len(f.of("claim")) == 2:
			return 200, "<html>We are back soon</html>"
		case len(f.of("claim")) == 3:
			return 404, "no backend"
		}
		return 200, oneJob(time.Minute)
	}}
	end(t, startWork(t, f, Config{MaxJobs: 2}, "true"))
	if claims := f.done("claim"); len(claims) != 4 || claims[1] != claims[2] || claims[2] != claims[3] || claims[0] == claims[1] {
		t.Errorf("claims %+v", claims)
	}
	wrong := &fake{reply: func(*fake, call) (int, string) { return 200, "<html>" }}
	if err := <-startWork(t, wrong, Config{}, "true"); err == nil || len(wrong.done("claim")) != 1 {
		t.Errorf("%d claims at the wrong address: %v", len(wrong.done("claim")), err)
	}
}

func TestAnEmptyAnswerWithoutAPauseIsNotAskedForAtOnce(t *testing.T) {
	t.Parallel()
	f := &fake{reply: func(*fake, call) (int, string) { return 200, "{}" }}
	end(t, startWork(t, f, Config{ExitWhenIdle: 1500 * time.Millisecond}, "true"))
	if claims := f.done("claim"); len(claims) > 2 {
		t.Errorf("%d claims in 1.5 s", len(claims))
	}
}

func TestAClaimThatIsAnsweredTwiceIsWorkedOnce(t *testing.T) {
	t.Parallel()
	answer := oneJob(time.Minute)
	f := &fake{reply: func(f *fake, c call) (int, string) {
		switch {
		case c.action == "claim" && len(f.of("claim")) < 3:
			return 200, answer
		case c.action == "claim":
			return 200, oneJob(time.Minute)
		}
		return 200, finished
	}}
	end(t, startWork(t, f, Config{MaxJobs: 2}, "true"))
	if got := f.actions(); got != "claim complete claim claim complete" {
		t.Errorf("the server was asked for %q", got)
	}
}

func TestAReportIsRepeatedWithoutAKey(t *testing.T) {
	t.Parallel()
	f := &fake{reply: func(f *fake, c call) (int, string) {
		switch {
		case c.action == "claim":
			return 200, oneJob(time.Minute)
		case len(f.of("complete")) < 3:
			return 503, away
		}
		return 200, finished
	}}
	end(t, startWork(t, f, Config{MaxJobs: 1}, "echo 1"))
	reports := f.done("complete")
	if len(reports) != 3 || reports[0].key != "" || reports[0] != reports[1] || reports[1] != reports[2] {
		t.Errorf("reports %+v", reports)
	}
	if !strings.Contains(reports[0].body, `"result":1`) {
		t.Errorf("report %s", reports[0].body)
	}
}

func TestACommandEndsWithALeaseThatIsNotRenewed(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]struct {
		status int
		body   string
	}{"lost": {409, lost}, "away": {503, away}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{reply: func(f *fake, c call) (int, string) {
				switch c.action {
				case "claim":
					return 200, oneJob(time.Second)
				case "heartbeat":
					return answer.status, answer.body
				}
				return 200, finished
			}}
			began := time.Now()
			end(t, startWork(t, f, Config{MaxJobs: 1}, "trap '' TERM; while :; do sleep 0.1; done"))
			if reports := append(f.done("complete"), append(f.done("fail"), f.done("release")...)...); len(reports) > 0 {
				t.Errorf("reported %+v for a lease that was lost", reports)
			}
			if beats := len(f.done("heartbeat")); name == "away" && beats < 3 {
				t.Errorf("%d heartbeats in four seconds", beats)
			}
			if took := time.Since(began); name == "away" && took < time.Second {
				t.Errorf("killed after %s, while the lease was held", took)
			}
		})
	}
}

// A claim is answered when its job's lease would have ended, had it begun when
// the claim was sent. Only the server knows whether it is held.
func TestALateClaimIsWorkedIfItsLeaseIsHeld(t *testing.T) {
	t.Parallel()
	const held = `{"directive":"continue","lease_expires_at":"2030-01-01T00:00:00Z"}`
	for name, tt := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"held":    {200, held, "claim heartbeat complete"},
		"lost":    {409, lost, "claim heartbeat"},
		"unknown": {503, away, "claim heartbeat release"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const lease = time.Second
			f := &fake{
				hold: func(c call, _ <-chan struct{}) {
					if c.action == "claim" {
						<-time.After(lease + 10*time.Millisecond)
					}
				},
				reply: func(f *fake, c call) (int, string) {
					switch c.action {
					case "claim":
						return 200, oneJob(lease)
					case "heartbeat":
						return tt.status, tt.body
					}
					return 200, finished
				},
			}
			mark := filepath.Join(t.TempDir(), "ran")
			end(t, startWork(t, f, Config{MaxJobs: 1}, "touch "+mark))
			// A slow machine renews the lease again before the command has ended.
			if got := slices.Compact(strings.Fields(f.actions())); strings.Join(got, " ") != tt.want {
				t.Errorf("the server was asked for %q, want %q", got, tt.want)
			}
			if _, err := os.Stat(mark); (err == nil) != (name == "held") {
				t.Errorf("the command ran: %t", err == nil)
			}
		})
	}
}

func TestAClaimInFlightIsGivenBackWhenTheWorkerStops(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	f := &fake{
		hold: func(c call, gone <-chan struct{}) {
			if c.action == "claim" {
				select {
				case <-asked: // the repetition
				default:
					close(asked)
					<-gone
				}
			}
		},
		reply: func(_ *fake, c call) (int, string) {
			if c.action == "claim" {
				return 200, oneJob(time.Minute)
			}
			return 200, finished
		},
	}
	ended := startWork(t, f, Config{}, "true")
	<-asked
	f.stop()
	end(t, ended)
	if got := f.actions(); got != "claim claim release" {
		t.Fatalf("the server was asked for %q", got)
	}
	if claims := f.done("claim"); claims[0] != claims[1] || claims[0].key == "" {
		t.Errorf("claims %+v", claims)
	}
}

func TestTheJobIsOneLineWithItsDigits(t *testing.T) {
	t.Parallel()
	line := string(stdinOf(json.RawMessage(`{"id":"j","lease_token":"secret","payload":{"n":12345678901234567890,"s":"<\u0026>"}}`)))
	if line != `{"id":"j","payload":{"n":12345678901234567890,"s":"<\u0026>"}}`+"\n" {
		t.Errorf("got %s", line)
	}
}

func waitFor(t *testing.T, is func() bool) {
	t.Helper()
	late := time.After(60 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it did not happen")
		}
	}
}

package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/web"
)

type readiness struct{ err error }

func (r readiness) Ready(context.Context) error { return r.err }
func (r readiness) Health(_ context.Context, names bool) (any, error) {
	return map[string]any{"pool": 3, "names": names}, r.err
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err    error
		status int
		cause  string
	}{
		{nil, 200, ""},
		{fault.Unavailable("Migrations are pending.").With("cause", "schema_pending"), 503, "schema_pending"},
		{fmt.Errorf("ping: %w", context.DeadlineExceeded), 503, "away"},
		{fmt.Errorf("ping: %w", errSQL), 503, "unknown"},
	}
	for _, tt := range tests {
		e := one(t, web.Config{Readiness: readiness{tt.err}})
		got := e.do(t, "GET", "/readyz", "", "Authorization", "")
		if got.Status != tt.status || driverText.MatchString(got.body) {
			t.Errorf("%v: status %d: %s", tt.err, got.Status, got.body)
		}
		named := `"cause":"` + tt.cause + `"`
		if tt.cause != "" && (got.problem(t).Code != "unavailable" || !strings.Contains(got.body, named)) {
			t.Errorf("%v: %s", tt.err, got.body)
		}
		got = e.do(t, "GET", "/readyz?verbose", "", "Authorization", "")
		if got.Status != tt.status || !strings.Contains(got.body, `"replica":{"names":false,"pool":3}`) ||
			tt.cause != "" && !strings.Contains(got.body, named) {
			t.Errorf("%v, verbose: %s", tt.err, got.body)
		}
	}
}

// TestReadinessNamesHoldersToWhoMayListLeases: strangers, and tokens that cannot be
// checked, get all the rest.
func TestReadinessNamesHoldersToWhoMayListLeases(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{Readiness: readiness{}})
	for _, tt := range []struct {
		name, value string
		names       bool
	}{
		{"Authorization", "", false},
		{"Authorization", "Bearer " + readerToken, false},
		{"Authorization", "Bearer stint_unknown", false},
		{"Authorization", "Bearer " + adminToken, true},
		{"Authorization", "Bearer " + opsToken, true},
	} {
		got := e.do(t, "GET", "/readyz?verbose", "", tt.name, tt.value)
		if want := fmt.Sprintf(`{"names":%v,"pool":3}`, tt.names); got.Status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s, want %s", tt.value, got.Status, got.body, want)
		}
	}
}

func TestDrainTurnsReadinessOffAndLetsRequestsEnd(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{Readiness: readiness{}})
	inside := make(chan struct{})
	web.Write(e.API, web.Op{Method: "POST", Path: "/v1/wait", ID: "wait", Scope: web.AnyToken},
		func(context.Context, model.Querier, coltype.Time, *nothing) (web.Answer[claimed], error) {
			return web.Answer[claimed]{Body: claimed{[]string{}}}, nil
		}, web.Hooks[nothing, claimed]{Before: func(ctx context.Context, _ *nothing) error {
			close(inside)
			select {
			case <-e.Draining():
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}})
	answers := make(chan answer)
	go func() { answers <- e.do(t, "POST", "/v1/wait", "") }()
	<-inside
	e.Drain()
	e.Drain()
	if got := e.do(t, "GET", "/readyz", ""); got.Status != 503 || got.problem(t).Code != "draining" || got.Header.Get("Retry-After") == "" {
		t.Errorf("readyz: status %d: %s", got.Status, got.body)
	}
	if got := <-answers; got.Status != 200 {
		t.Errorf("the waiting request: status %d: %s", got.Status, got.body)
	}
	for _, path := range []string{"/livez", "/v1/things"} {
		if got := e.do(t, "GET", path, ""); got.Status != 200 {
			t.Errorf("%s while draining: status %d", path, got.Status)
		}
	}
}

func TestAClosedReplicaAnswersItselfWhateverIsAsked(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	before := httptest.NewServer(web.Closed(slog.New(slog.DiscardHandler), func() error { return fault.Unavailable("Starting.") }))
	t.Cleanup(before.Close)
	e.url = before.URL
	for _, path := range []string{"/readyz", "/", "//evil.example//b", "/v1/jobs/../x", "/livez/", "*"} {
		if status := e.raw(t, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); status != "503" {
			t.Errorf("GET %s: status %s", path, status)
		}
	}
	for method, status := range map[string]int{"GET": 200, "HEAD": 200, "POST": 503} {
		if got := e.do(t, method, "/livez", ""); got.Status != status {
			t.Errorf("%s /livez: status %d", method, got.Status)
		}
	}
}

func TestTheAdminListenerAnswersHealthOnly(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{Readiness: readiness{}})
	admin := httptest.NewServer(e.Admin())
	t.Cleanup(admin.Close)
	e.url = admin.URL
	for path, status := range map[string]int{"/livez": 200, "/readyz": 200, "/v1/things": 404, "/docs": 404, "/": 404, "//evil.example/..": 404} {
		if got := e.do(t, "GET", path, ""); got.Status != status {
			t.Errorf("%s: status %d, want %d", path, got.Status, status)
		}
	}
	for method, status := range map[string]int{"HEAD": 200, "POST": 405} {
		if got := e.do(t, method, "/livez", ""); got.Status != status {
			t.Errorf("%s: status %d", method, got.Status)
		}
	}
}

// A body that trickles in is cut off, with a token and without one; a request
// that waits longer than a body may take is not.
func TestSlowBodiesAreCutOff(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{BodyTime: 300 * time.Millisecond})
	for token, want := range map[string]int{"Bearer " + adminToken: 408, "Bearer x": 401} {
		c, err := net.Dial("tcp", strings.TrimPrefix(e.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err = fmt.Fprintf(c, "POST /v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", token)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(c)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != want {
			t.Errorf("status %d, want %d: %v", resp.StatusCode, want, err)
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("%d: the connection stays open: %v", want, err)
		}
	}
}

// TestARequestThatRunsOutOfTimeIsToldSo: both ways to the database see the end.
func TestARequestThatRunsOutOfTimeIsToldSo(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	forever := func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("work: %w", ctx.Err())
	}
	op := func(method, path string) web.Op {
		return web.Op{Method: method, Path: path, ID: method + path[4:], Scope: web.AnyToken, AnswerTime: 50 * time.Millisecond}
	}
	web.Read(e.API, op("GET", "/v1/long"), func(ctx context.Context, _ model.Reader, _ coltype.Time, _ *nothing) (*claimed, error) {
		return nil, forever(ctx)
	})
	web.Write(e.API, op("POST", "/v1/long"), func(ctx context.Context, _ model.Querier, _ coltype.Time, _ *nothing) (web.Answer[claimed], error) {
		return web.Answer[claimed]{}, forever(ctx)
	})
	for _, method := range []string{"GET", "POST"} {
		if got := e.do(t, method, "/v1/long", ""); got.Status != 503 || got.problem(t).Code != "unavailable" {
			t.Errorf("%s: status %d: %s", method, got.Status, got.body)
		}
	}
}

func TestAWaitingRequestOutlivesTheBodysDeadline(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{BodyTime: 100 * time.Millisecond})
	web.Write(e.API, web.Op{Method: "POST", Path: "/v1/wait", ID: "wait", Scope: web.AnyToken},
		func(context.Context, model.Querier, coltype.Time, *nothing) (web.Answer[claimed], error) {
			return web.Answer[claimed]{}, nil
		}, web.Hooks[nothing, claimed]{Before: func(ctx context.Context, _ *nothing) error {
			select {
			case <-time.After(400 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}})
	for range 2 { // the second time on the same connection
		if got := e.do(t, "POST", "/v1/wait", "{}"); got.Status != 200 {
			t.Errorf("status %d: %s", got.Status, got.body)
		}
	}
}

func TestServerBoundsHeaders(t *testing.T) {
	t.Parallel()
	s := web.Server("127.0.0.1:0", http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 || s.ReadTimeout != 0 || s.WriteTimeout != 0 {
		t.Errorf("%+v", s)
	}
	e := one(t, web.Config{})
	if status := e.raw(t, "GET /livez HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("x", 512<<10)+"\r\n\r\n"); status != "431" {
		t.Errorf("512 KiB of headers: status %s", status)
	}
}

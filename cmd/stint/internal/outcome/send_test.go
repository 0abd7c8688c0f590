package outcome

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
)

// server answers reports by a script.
type server struct {
	mu      sync.Mutex
	reports []string // action and body without the lease token
	answer  func(n int, action string, body map[string]any) (status int, text string)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	var body map[string]any
	_ = json.Unmarshal(text, &body)
	if body["lease_token"] != "secret" || r.Header.Get("Authorization") != "Bearer token" {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	delete(body, "lease_token")
	action := strings.TrimPrefix(r.URL.Path, "/v1/jobs/job_1/")
	s.mu.Lock()
	defer s.mu.Unlock()
	rest, _ := json.Marshal(body)
	s.reports = append(s.reports, action+" "+string(rest))
	status, text2 := s.answer(len(s.reports), action, body)
	if status == 0 {
		panic(http.ErrAbortHandler) // the answer is lost
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text2)
}

func (s *server) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reports
}

func (s *server) start(t *testing.T) (url string) {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return web.URL
}

// startTLS also gives a file with the certificate's authority.
func (s *server) startTLS(t *testing.T) (url, caFile string) {
	t.Helper()
	web := httptest.NewUnstartedServer(s)
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	t.Cleanup(web.Close)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	if err := os.WriteFile(caFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return web.URL, caFile
}

const finished = `{"job":{"id":"job_1","state":"succeeded"},"run":{"id":"run_1"}}`

func problem(status int, code string, pointers ...string) (int, string) {
	items := []map[string]string{}
	for _, pointer := range pointers {
		items = append(items, map[string]string{"in": "body", "pointer": pointer, "detail": "no"})
	}
	text, _ := json.Marshal(map[string]any{"status": status, "code": code, "detail": "no", "errors": items})
	return status, string(text)
}

// strict refuses what knows reports true for.
func strict(knows func(body map[string]any) (pointers []string)) func(int, string, map[string]any) (int, string) {
	return func(_ int, _ string, body map[string]any) (int, string) {
		if pointers := knows(body); len(pointers) > 0 {
			return problem(422, "validation_failed", pointers...)
		}
		return 200, finished
	}
}

func badResult(body map[string]any) (pointers []string) {
	if body["result"] != nil {
		pointers = append(pointers, "/result/log")
	}
	return pointers
}

// older is a server that does not know warnings.
func older(body map[string]any) (pointers []string) {
	if _, ok := body["warning"]; ok {
		pointers = append(pointers, "/warning")
	}
	return pointers
}

// first gives answers one after the other, and then a success.
func first(answers ...func() (int, string)) func(int, string, map[string]any) (int, string) {
	return func(n int, _ string, _ map[string]any) (int, string) {
		if n <= len(answers) {
			return answers[n-1]()
		}
		return 200, finished
	}
}

func says(status int, text string) func() (int, string) {
	return func() (int, string) { return status, text }
}

func refuses(status int, code string, pointers ...string) func() (int, string) {
	return func() (int, string) { return problem(status, code, pointers...) }
}

// blocked is a proxy that lets the fourth report through.
func blocked(status int) func(int, string, map[string]any) (int, string) {
	return first(says(status, "<html>"), says(status, "<html>"), says(status, "<html>"))
}

// byTheWay is the report that goes without its result for that.
func byTheWay(status string) string {
	return `complete {"warning":"odd; something on the way to the server refused the result (http_` + status[:3] + `: The answer was ` + status + `.); the result is null"}`
}

func TestAReportGetsThrough(t *testing.T) {
	t.Parallel()
	seconds := int64(60)
	done := Finish{Action: Complete, Result: []byte(`{"log":"a"}`), Warning: "odd"}
	same := func(n int) []string {
		return strings.Split(strings.Repeat(`complete {"result":{"log":"a"},"warning":"odd"}|`, n), "|")[:n]
	}
	const refused = `complete {"warning":"odd; the server refused the result (validation_failed: /result/log: no); the result is null"}`
	tests := map[string]struct {
		finish Finish
		answer func(n int, action string, body map[string]any) (int, string)
		want   []string
		fails  string
	}{
		"complete": {done, first(), same(1), ""},
		"fail": {Finish{Action: Fail, Code: "exit_1", Message: "why", Seconds: &seconds}, first(),
			[]string{`fail {"error":{"code":"exit_1","message":"why"},"retry_after_seconds":60,"retryable":true}`}, ""},
		"final": {Finish{Action: Fail, Code: "exit_1", Message: "why", Final: true, Warning: "odd"}, first(),
			[]string{`fail {"error":{"code":"exit_1","message":"why"},"retryable":false,"warning":"odd"}`}, ""},
		"snooze":  {Finish{Action: Snooze, Seconds: &seconds}, first(), []string{`snooze {"seconds":60}`}, ""},
		"release": {Finish{Action: Release}, first(), []string{`release {}`}, ""},

		"a result is refused": {done, strict(badResult), []string{same(1)[0], refused}, ""},
		"an older server":     {done, strict(older), []string{same(1)[0], `complete {"result":{"log":"a"}}`}, ""},
		"an older server refuses the result": {done, strict(func(body map[string]any) []string { return append(badResult(body), older(body)...) }),
			[]string{same(1)[0], `complete {}`}, ""},
		"an older server says one after the other": {done, first(refuses(422, "validation_failed", "/result"), refuses(422, "validation_failed", "/warning")),
			[]string{same(1)[0], strings.Replace(refused, "/result/log", "/result", 1), `complete {}`}, ""},
		"the body is no JSON to the server": {done, first(refuses(400, "invalid_json", "")),
			[]string{same(1)[0], `complete {"warning":"odd; the server refused the result (invalid_json: : no); the result is null"}`}, ""},
		"a proxy takes no such size":       {done, blocked(413), append(same(3), byTheWay("413 Request Entity Too Large")), ""},
		"a filter blocks the result":       {done, blocked(403), append(same(3), byTheWay("403 Forbidden")), ""},
		"something refuses it three times": {done, blocked(422), append(same(3), byTheWay("422 Unprocessable Entity")), ""},
		"a page to sign in":                {done, blocked(302), append(same(3), byTheWay("302 Found")), ""},
		"a filter blocks what has no result": {Finish{Action: Complete, Warning: "odd"}, blocked(413),
			[]string{`complete {"warning":"odd"}`, `complete {"warning":"odd"}`, `complete {"warning":"odd"}`, `complete {"warning":"` + textsBlocked + `"}`}, ""},
		"a filter blocks a failure": {Finish{Action: Fail, Code: "c", Message: "m", Final: true, Warning: "odd"}, blocked(403),
			append(strings.Split(strings.Repeat(`fail {"error":{"code":"c","message":"m"},"retryable":false,"warning":"odd"}|`, 3), "|")[:3],
				`fail {"error":{"code":"c","message":"`+textsBlocked+`"},"retryable":false}`), ""},
		"an older server and a failure": {Finish{Action: Fail, Code: "c", Message: "m", Warning: "odd"}, strict(older),
			[]string{`fail {"error":{"code":"c","message":"m"},"retryable":true,"warning":"odd"}`, `fail {"error":{"code":"c","message":"m"},"retryable":true}`}, ""},

		"answers that pass":         {done, first(says(0, ""), says(503, ""), says(200, "<html>"), says(502, "")), same(5), ""},
		"a proxy without a backend": {done, first(says(404, ""), says(404, ""), says(404, "")), same(4), ""},
		"a server in trouble":       {done, first(refuses(500, "internal"), refuses(429, "too_many"), says(408, "")), same(4), ""},
		"a token is replaced":       {done, first(refuses(401, "unauthorized"), refuses(403, "forbidden")), same(3), ""},
		"the lease is lost":         {done, first(refuses(409, "lease_lost")), same(1), "lease_lost"},
		"it ended otherwise":        {done, first(refuses(409, "state_conflict")), same(1), "state_conflict"},
		"the job is gone":           {done, first(refuses(404, "not_found")), same(1), "not_found"},
		"all of it is refused":      {Finish{Action: Release}, first(refuses(422, "validation_failed", "/lease_token")), []string{"release {}"}, "validation_failed"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{answer: tt.answer}
			c, err := api.New(s.start(t), "token", "test", nil)
			if err != nil {
				t.Fatal(err)
			}
			sender := &Sender{API: c, JobID: "job_1", LeaseToken: "secret", Log: slog.New(slog.DiscardHandler)}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			_, err = sender.Send(ctx, tt.finish)
			if api.Code(err) != tt.fails || err != nil && tt.fails == "" {
				t.Errorf("error %v", err)
			}
			if got, want := strings.Join(s.seen(), "\n"), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestAReportEndsWithItsTime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{answer: func(n int, _ string, _ map[string]any) (int, string) {
		if n == 3 {
			cancel()
		}
		return 503, ""
	}}
	c, err := api.New(s.start(t), "token", "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	sender := &Sender{API: c, JobID: "job_1", LeaseToken: "secret", Log: slog.New(slog.DiscardHandler)}
	if _, err := sender.Send(ctx, Finish{Action: Release}); err == nil || len(s.seen()) != 3 {
		t.Errorf("%d reports, %v", len(s.seen()), err)
	}
}

// The supervisor has nothing but its handover when the worker is dead.
func TestASupervisorReportsAloneAndRemovesTheFiles(t *testing.T) {
	t.Parallel()
	s := &server{answer: first(says(0, ""), says(503, ""))}
	url, caFile := s.startTLS(t)
	h := Handover{JobID: "job_1", LeaseToken: "secret", Token: "token", Server: url, CAFile: caFile, Lease: time.Minute}
	a := newAttempt(t, &h, map[string]string{outcomeFile: `{"outcome":"final","code":"no_key"}`})
	a.Output(2, []byte("the key is missing\n"))
	a.Alone(context.Background(), a.Ended(exit(0)))
	want := `fail {"error":{"code":"no_key","message":"the key is missing"},"retryable":false}`
	if got := s.seen(); len(got) != 3 || got[2] != want {
		t.Errorf("got %s", fmt.Sprint(got))
	}
	if _, err := os.Lstat(h.Files.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the files are still there: %v", err)
	}
}

// A minute after its end a lease is gone for certain, and so is the supervisor.
func TestASupervisorAloneGivesUpWithTheLease(t *testing.T) {
	t.Parallel()
	s := &server{answer: func(int, string, map[string]any) (int, string) { return 503, "" }}
	h := Handover{JobID: "job_1", LeaseToken: "secret", Token: "token", Server: s.start(t), Lease: 300*time.Millisecond - CertainlyGone}
	a := newAttempt(t, &h, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	a.Alone(ctx, a.Ended(exit(0)))
	if ctx.Err() != nil || len(s.seen()) == 0 {
		t.Errorf("%d reports", len(s.seen()))
	}
}

// The worker is dead. The command has ended by itself or as it was asked to, or was
// killed because of that.
func TestWhatASupervisorReportsAlone(t *testing.T) {
	t.Parallel()
	asked, expired := signal(syscall.SIGTERM), signal(syscall.SIGKILL)
	asked.Asked, expired.Expired = true, true
	done := exit(0)
	done.Asked = true
	tests := map[string]struct {
		end    supervise.End
		killed bool
		told   string
		want   string
	}{
		"a failure":               {end: exit(1), want: `fail {"error":{"code":"exit_1","message":"why"},"retryable":true}`},
		"ended by the worker":     {end: asked},
		"ended with its lease":    {end: expired},
		"ended well all the same": {end: done, want: "complete {}"},
		"told, and ended":         {end: asked, told: `{"outcome":"snooze","seconds":9}`, want: `snooze {"seconds":9}`},
		"killed":                  {end: signal(syscall.SIGKILL), killed: true},
		"told, and killed":        {end: signal(syscall.SIGKILL), killed: true, told: `{"outcome":"complete"}`, want: "complete {}"},
		"told badly, and killed":  {end: signal(syscall.SIGKILL), killed: true, told: `{"outcome":`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{answer: first()}
			h := Handover{JobID: "job_1", LeaseToken: "secret", Token: "token", Server: s.start(t)}
			a := newAttempt(t, &h, map[string]string{outcomeFile: tt.told})
			a.Output(2, []byte("why"))
			report := a.Ended(tt.end)
			if tt.killed {
				report = nil
			}
			a.Alone(context.Background(), report)
			if got := strings.Join(s.seen(), "; "); got != tt.want {
				t.Errorf("got %q", got)
			}
			if _, err := os.Lstat(h.Files.Dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the files are still there: %v", err)
			}
		})
	}
}

// A connection that has died without a word costs one try, and not the ten seconds
// that the shortest lease lasts.
func TestAReportDoesNotWaitLongForADeadConnection(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) == 1 {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, finished)
	}))
	t.Cleanup(web.Close)
	c, err := api.New(web.URL, "token", "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	sender := &Sender{API: c, JobID: "job_1", LeaseToken: "secret", Log: slog.New(slog.DiscardHandler)}
	if _, err := sender.Send(ctx, Finish{Action: Complete}); err != nil || tries.Load() != 2 {
		t.Errorf("%d tries: %v", tries.Load(), err)
	}
}

// A filter that lets nothing through for a while does not cost the result: there is
// time left.
func TestAResultIsKeptWhileTheWayIsBlockedForATime(t *testing.T) {
	t.Parallel()
	s := &server{answer: blocked(403)}
	c, err := api.New(s.start(t), "token", "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	sender := &Sender{API: c, JobID: "job_1", LeaseToken: "secret", Lease: time.Minute, Log: slog.New(slog.DiscardHandler)}
	_, err = sender.Send(t.Context(), Finish{Action: Complete, Result: []byte("5")})
	if seen := s.seen(); err != nil || len(seen) != 4 || seen[3] != `complete {"result":5}` {
		t.Errorf("%v %v", seen, err)
	}
}

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// client calls a server as the holder of one token, and looks at every answer
// with the eyes of someone who wants in.
type client struct {
	t     testing.TB
	base  func() string
	token string
	http  *http.Client
}

func newClient(t testing.TB, base func() string, token string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, base: base, token: token, http: &http.Client{
		Transport: transport, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// as is the same client with another token; "" sends none.
func (c *client) as(token string) *client {
	other := *c
	other.token = token
	return &other
}

// answer is what came back.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// try sends a request; headers are names and values by turns. Its error is that
// of the connection.
func (c *client) try(ctx context.Context, method, path, body string, headers ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base()+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	a := answer{Status: resp.StatusCode, Header: resp.Header, Body: text}
	if err == nil {
		for _, wrong := range a.faults() {
			c.t.Errorf("%s %s: %s\n%s", method, path, wrong, a)
		}
	}
	return a, err
}

// call is try where a broken connection is a defect; the status is then 0.
func (c *client) call(method, path, body string, headers ...string) answer {
	c.t.Helper()
	a, err := c.try(context.Background(), method, path, body, headers...)
	if err != nil {
		c.t.Errorf("%s %s: %v", method, path, err)
		return answer{}
	}
	return a
}

func (c *client) get(path string, headers ...string) answer {
	c.t.Helper()
	return c.call(http.MethodGet, path, "", headers...)
}

func (c *client) post(path, body string, headers ...string) answer {
	c.t.Helper()
	return c.call(http.MethodPost, path, body, headers...)
}

// patient posts again, after the time the server asks for, while the answer is
// a 503: on a machine that does too much at once a lock or a connection may not
// be had in time. Such an answer must have changed nothing, and the tests that
// use this find out if it did.
func (c *client) patient(path, body string, headers ...string) answer {
	c.t.Helper()
	for range 30 {
		a := c.post(path, body, headers...)
		if a.Status != http.StatusServiceUnavailable {
			return a
		}
		seconds, _ := strconv.Atoi(a.Header.Get("Retry-After"))
		<-time.After(time.Duration(seconds) * time.Second)
	}
	c.t.Errorf("POST %s: 503 thirty times", path)
	return answer{}
}

// must posts and wants one status.
func (c *client) must(status int, path, body string, headers ...string) answer {
	c.t.Helper()
	a := c.post(path, body, headers...)
	if a.Status != status {
		c.t.Fatalf("POST %s %s: want %d, got %s", path, body, status, a)
	}
	return a
}

func (a answer) String() string {
	return fmt.Sprintf("%d %s", a.Status, bytes.TrimSpace(a.Body))
}

// at is the value at a path of members and indexes, as in "jobs.0.id"; nil if
// there is none.
func (a answer) at(path string) any {
	var v any
	dec := json.NewDecoder(bytes.NewReader(a.Body))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	for _, step := range strings.Split(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

func (a answer) str(path string) string {
	s, _ := a.at(path).(string)
	return s
}

func (a answer) len(path string) int {
	list, _ := a.at(path).([]any)
	return len(list)
}

// leaks is what no answer may hold: a driver's or the runtime's words, and the
// names of tables that are not words of the API as well.
var leaks = regexp.MustCompile(`SQLSTATE|\bpq:|ERROR:|\.go:\d|\bgoroutine \d|job_kinds|idempotency_keys|schema_migrations|\bpgx|sqlite3?[:_ ]|` +
	`(?i:\bsyntax error\b|relation "|\bselect .+ from\b|\binsert into\b|\bupdate .+ set\b|constraint )`)

// faults are the rules that hold for every answer of the API.
func (a answer) faults() (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if got := a.Header.Get("X-Content-Type-Options"); got != "nosniff" {
		say("X-Content-Type-Options is %q", got)
	}
	if csp := a.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		say("Content-Security-Policy is %q", csp)
	}
	if id := a.Header.Get("X-Request-Id"); !requestIDs.MatchString(id) {
		say("X-Request-Id is %q", id)
	}
	media := a.Header.Get("Content-Type")
	switch {
	case a.Status >= 400 && media != "text/html; charset=utf-8":
		return append(wrong, a.problemFaults(media)...)
	case a.Status >= 500:
		say("a page with %d", a.Status)
	case a.Status >= 300 && a.Status < 400 && a.Status != http.StatusNotModified && !a.local():
		say("a redirect to %q", a.Header.Get("Location"))
	case len(a.Body) > 0 && strings.HasPrefix(media, "application/json") && !json.Valid(a.Body):
		say("the body is not JSON")
	}
	return wrong
}

// local reports whether an answer leads a browser on within the server.
func (a answer) local() bool {
	to, err := url.Parse(a.Header.Get("Location"))
	return a.Status == http.StatusSeeOther && err == nil && to.Host == "" && to.Scheme == "" && strings.HasPrefix(to.Path, "/")
}

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// problemFaults are the rules of an answer that is an error.
func (a answer) problemFaults(media string) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if media != "application/problem+json" {
		say("Content-Type is %q", media)
	}
	if hit := leaks.Find(a.Body); hit != nil {
		say("the body shows %q", hit)
	}
	var p struct {
		Type, Title, Detail, Code string
		Status                    int
		RequestID                 string `json:"request_id"`
		RetryAfter                *int64 `json:"retry_after_ms"`
		Errors                    []any
	}
	if err := json.Unmarshal(a.Body, &p); err != nil {
		return append(wrong, "the problem is no JSON: "+err.Error())
	}
	replayed := a.Header.Get("Idempotent-Replayed") != ""
	if p.Status != a.Status || p.Code == "" || p.Title == "" || p.Type != "/problems/"+p.Code || p.Errors == nil {
		say("the problem is not whole")
	}
	if p.RequestID != a.Header.Get("X-Request-Id") && !replayed {
		say("request_id differs from the header")
	}
	if a.Status == http.StatusInternalServerError {
		say("a 500")
	}
	if a.Status == http.StatusServiceUnavailable && (a.Header.Get("Retry-After") == "" || p.RetryAfter == nil) {
		say("a 503 without Retry-After")
	}
	return wrong
}

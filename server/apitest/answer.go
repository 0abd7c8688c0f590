package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

func (a Answer) String() string {
	return fmt.Sprintf("%d %s", a.Status, bytes.TrimSpace(a.Body))
}

// At is the value at a path of members and indexes, as in "jobs.0.id"; nil if
// there is none.
func (a Answer) At(path string) any {
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

// Str is the text at a path; "" if there is none.
func (a Answer) Str(path string) string {
	s, _ := a.At(path).(string)
	return s
}

// Len is the length of the list at a path; 0 if there is none.
func (a Answer) Len(path string) int {
	list, _ := a.At(path).([]any)
	return len(list)
}

// Into decodes the body.
func (a Answer) Into(t testing.TB, out any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, out); err != nil {
		t.Fatalf("%v: %s", err, a)
	}
}

// leaks is what no answer may hold: a driver's or the runtime's words, and the
// names of tables that are not words of the API as well.
var leaks = regexp.MustCompile(`SQLSTATE|\bpq:|ERROR:|\.go:\d|\bgoroutine \d|job_kinds|idempotency_keys|schema_migrations|\bpgx|sqlite3?[:_ ]|` +
	`(?i:\bsyntax error\b|relation "|\bselect .+ from\b|\binsert into\b|\bupdate .+ set\b|constraint )`)

// Faults are the rules that hold for every answer of the API.
func (a Answer) Faults() (wrong []string) {
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
func (a Answer) local() bool {
	to, err := url.Parse(a.Header.Get("Location"))
	return a.Status == http.StatusSeeOther && err == nil && to.Host == "" && to.Scheme == "" && strings.HasPrefix(to.Path, "/")
}

var requestIDs = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// problemFaults are the rules of an answer that is an error.
func (a Answer) problemFaults(media string) (wrong []string) {
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

package web_test

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/web"
)

// raw sends bytes as they are and returns the status of the answer.
func (e *edge) raw(t *testing.T, request string) string {
	t.Helper()
	status, _ := e.rawAnswer(t, request)
	return status
}

func (e *edge) rawAnswer(t *testing.T, request string) (status string, h http.Header) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(e.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.Status[:3], resp.Header
}

func TestParametersAreStrict(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		tests := []struct {
			query    string
			status   int
			pointers string
		}{
			{"", 200, ""},
			{"limit=1", 200, ""},
			{"limit=200", 200, ""},
			{"limit=0", 400, "query:/limit"},
			{"limit=-1", 400, "query:/limit"},
			{"limit=201", 400, "query:/limit"},
			{"limit=1000000000000", 400, "query:/limit"},
			{"limit=9223372036854775808", 400, "query:/limit"},
			{"limit=abc", 400, "query:/limit"},
			{"limit=1.5", 400, "query:/limit"},
			{"limit=", 400, "query:/limit"},
			{"limit", 400, "query:/limit"},
			{"limit=1&limit=1", 400, "query:/limit"},
			{"state=pending", 200, ""},
			{"state=pending&state=done", 200, ""},
			{"state=pending&state=pending", 400, "query:/state"},
			{"state=pending,done", 400, "query:/state/0"},
			{"state=%00", 400, "query:/state query:/state/0"},
			{"state=PENDING", 400, "query:/state/0"},
			{"kind=a%00", 400, "query:/kind"},
			{"kind=a%ff", 400, "query:/kind"},
			{"kind=%zz", 400, "query:"},
			{"kind=a;limit=1", 400, "query:"},
			{"kind=a&kind=b", 400, "query:/kind"},
			{"since=2026-01-15T23:00:00Z", 200, ""},
			{"since=2026-01-15T23:00:00%2B05:30", 200, ""},
			{"since=2026-01-15", 400, "query:/since"},
			{"since=2026-02-30T00:00:00Z", 400, "query:/since"},
			{"since=10000-01-01T00:00:00Z", 400, "query:/since"},
			{"since=infinity", 400, "query:/since"},
			{"sort=created_at;select%20pg_sleep(5)--", 400, "query:"},
			{"sort=(select%201)", 400, "query:/sort"},
			{"order=desc%20nulls%20first", 400, "query:/order"},
			{"LIMIT=1", 400, "query:/LIMIT"},
			{"sort=a&sort=b&limit=0&q=%00", 400, "query:/limit query:/q query:/sort"},
		}
		for _, tt := range tests {
			got := e.do(t, "GET", "/v1/things?"+tt.query, "")
			if got.Status != tt.status {
				t.Errorf("%s: status %d, want %d: %s", tt.query, got.Status, tt.status, got.body)
			} else if tt.status == 400 && got.pointers(t) != tt.pointers {
				t.Errorf("%s: faults %q, want %q", tt.query, got.pointers(t), tt.pointers)
			}
		}
	})
}

func TestUnknownParameterNamesTheKnownOnes(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	got := e.do(t, "GET", "/v1/things?sort=created_at", "")
	if detail := got.problem(t).Errors[0].Detail; !strings.Contains(detail, "limit, cursor, state, kind, since") {
		t.Errorf("detail %q", detail)
	}
}

func TestPathsAreDecodedOnce(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	tests := []struct{ path, id string }{
		{"/v1/things/thing_1", "thing_1"},
		{"/v1/things/a%2Fb", "a/b"},
		{"/v1/things/a%2fb", "a/b"},
		{"/v1/things/a%252Fb", "a%2Fb"},
		{"/v1/things/%E3%81%82", "あ"},
		{"/v1/things/%e3%81%82", "あ"},
		{"/v1/things/a%20b", "a b"},
		{"/v1/things/a+b", "a+b"},
		{"/v1/things/c%2Bd", "c+d"},
		{"/v1/things/c%2bd", "c+d"},
	}
	for _, tt := range tests {
		got := e.do(t, "GET", tt.path, "")
		if got.Status != 200 || !strings.Contains(got.body, `"id":"`+tt.id+`"`) {
			t.Errorf("%s: status %d: %s", tt.path, got.Status, got.body)
		}
	}
}

func TestPathsThatNameNothing(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	paths := []string{
		"/v1/things/%00", "/v1/things/a%00b", "/v1/things/a%ff", "/v1/things/", "/v1//things", "//v1/things",
		"/v1/things/a/", "/v1/things/" + strings.Repeat("a", 256), "/v1/thing", "/v1/things/a/b", "/nowhere", "/",
		"/v1/../livez", "//evil.example%2f..", "//evil.example/..", "/%2Fevil.example", "/%5Cevil.example", "/docs//evil.example/..",
		"/problems/made_up", "/docs/docs.html", "/docs/../docs.go",
	}
	for _, path := range paths {
		status, h := e.rawAnswer(t, "GET "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer stint_admin\r\n\r\n")
		if status != "404" || h.Get("Content-Type") != "application/problem+json" || h.Get("Location") != "" {
			t.Errorf("%s: status %s, %v", path, status, h)
		}
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	got := e.do(t, "DELETE", "/v1/things", "")
	if p := got.problem(t); p.Status != 405 || p.Code != "method_not_allowed" {
		t.Errorf("status %d, code %s", p.Status, p.Code)
	}
	for _, method := range []string{"GET", "HEAD", "POST"} {
		if !strings.Contains(got.Header.Get("Allow"), method) {
			t.Errorf("Allow %q lacks %s", got.Header.Get("Allow"), method)
		}
	}
	if got := e.do(t, "HEAD", "/v1/secrets", ""); got.Status != 405 || strings.Contains(got.Header.Get("Allow"), "HEAD") {
		t.Errorf("HEAD where there is no GET: status %d, Allow %q", got.Status, got.Header.Get("Allow"))
	}
	get := e.do(t, "GET", "/v1/things", "")
	head := e.do(t, "HEAD", "/v1/things", "")
	length, want := head.Header.Get("Content-Length"), get.Header.Get("Content-Length")
	if head.Status != 200 || head.body != "" || length != want || want == "" {
		t.Errorf("HEAD: status %d, length %q, want %q", head.Status, length, want)
	}
}

func TestRequestIdsAreTakenIfTheyAreClean(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for _, id := range []string{"a", "A-z_0.9", strings.Repeat("x", 64)} {
		if got := e.do(t, "GET", "/livez", "", "X-Request-Id", id); got.Header.Get("X-Request-Id") != id {
			t.Errorf("%q became %q", id, got.Header.Get("X-Request-Id"))
		}
	}
	for _, id := range []string{strings.Repeat("x", 65), strings.Repeat("x", 20<<10), `a"b`, "ü", "x%0d%0aSet-Cookie:1", "a b", "a,b"} {
		got := e.do(t, "GET", "/nowhere", "", "X-Request-Id", id).Header.Get("X-Request-Id")
		if got == id || !strings.HasPrefix(got, "req_") || len(got) > 64 {
			t.Errorf("%q became %q", id, got)
		}
	}
}

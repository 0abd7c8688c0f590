package web_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/web"
)

// lines are the log's records; each must be one line of JSON. The line is
// written after the answer, so the test waits for as many as it asks for.
func (e *edge) lines(t *testing.T, want int) []map[string]any {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); strings.Count(e.log.String(), "\n") < want; {
		if time.Now().After(end) {
			t.Fatalf("%d lines wanted, there are: %s", want, e.log.String())
		}
		e.do(t, "GET", "/livez", "") // whoever answers next has written what came before
		want++
	}
	var all []map[string]any
	for _, line := range bytes.Split(bytes.TrimSpace([]byte(e.log.String())), []byte("\n")) {
		var rec map[string]any
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if rec["route"] != "/livez" {
			all = append(all, rec)
		}
	}
	return all
}

func TestOneLinePerRequest(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		e.do(t, "POST", "/v1/things?", `{"kind":"a"}`, "X-Request-Id", "mine", "Idempotency-Key", "k")
		lines := e.lines(t, 1)
		if len(lines) != 1 {
			t.Fatalf("%d lines", len(lines))
		}
		rec := lines[0]
		want := map[string]any{
			"msg": "request", "level": "INFO", "request_id": "mine", "method": "POST", "route": "/v1/things",
			"status": 201.0, "statements": 3.0, "token_id": "tok_admin",
		}
		for name, value := range want {
			if rec[name] != value {
				t.Errorf("%s is %v, want %v", name, rec[name], value)
			}
		}
		for _, name := range []string{"duration_ms", "bytes", "db_ms", "owner_id"} {
			if rec[name] == nil {
				t.Errorf("%s is missing", name)
			}
		}
	})
}

func TestTheLogHoldsNoSecretsAndNoForgedLines(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	const wrong = "stint_wr0ng_t0ken"
	e.do(t, "GET", "/v1/things", "", "Authorization", "Bearer "+wrong)
	e.do(t, "GET", "/v1/things?token="+wrong, "")
	e.do(t, "GET", "/v1/"+wrong, "")
	e.do(t, "GET", "/v1/things/"+wrong+"%0alevel=error", "")
	e.do(t, wrong, "/v1/things", "")
	e.do(t, "POST", "/v1/things", `{"kind":"`+wrong+`","`+wrong+`":1}`, "Idempotency-Key", wrong, "X-Request-Id", wrong+" x")
	e.do(t, "POST", "/v1/secrets", "")
	lines := e.lines(t, 7)
	if len(lines) != 7 {
		t.Errorf("%d lines for 7 requests", len(lines))
	}
	log := e.log.String()
	for _, secret := range []string{wrong, adminToken, "s3cr3t"} {
		for _, form := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret))} {
			if strings.Contains(log, form) {
				t.Errorf("the log holds %q: %s", form, log)
			}
		}
	}
}

// driverText is what only a driver, a database or a stack trace would say.
var driverText = regexp.MustCompile(`SQLSTATE|ERROR:|pq:|\.go:|sqlite|relation|select |goroutine|coltype|Unmarshal|UnmarshalText`)

func TestUnknownErrorsStayInTheLog(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		for _, how := range []string{"sql", "panic", "encode", "nul"} {
			got := e.do(t, "GET", "/v1/broken?how="+how, "")
			if how == "nul" && got.Status == 404 { // the engine took the text and found no row
				continue
			}
			p := got.problem(t)
			if p.Status != 500 || p.Code != "internal" || driverText.MatchString(got.body) {
				t.Errorf("%s: status %d: %s", how, p.Status, got.body)
			}
			var found int
			for _, rec := range e.lines(t, 1) {
				if rec["request_id"] == p.RequestID {
					found++
					if rec["level"] != "ERROR" || rec["error"] == nil {
						t.Errorf("%s: the cause is not in the log: %v", how, rec)
					}
				}
			}
			if found != 1 {
				t.Errorf("%s: %d lines", how, found)
			}
		}
	})
}

// bewildered is a replica that cannot even say whether it is ready.
type bewildered struct{ readiness }

func (bewildered) Ready(context.Context) error { panic("lost") }

// TestProbesAreQuietUnlessTheServerFails: that it is not ready is an answer.
func TestProbesAreQuietUnlessTheServerFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		r      web.Readiness
		status int
		loud   bool
	}{
		"ready":      {readiness{}, 200, false},
		"not ready":  {readiness{errSQL}, 503, false},
		"bewildered": {bewildered{}, 500, true},
	} {
		e := one(t, web.Config{Readiness: tt.r})
		if got := e.do(t, "GET", "/readyz", ""); got.Status != tt.status {
			t.Errorf("%s: status %d", name, got.Status)
		}
		e.do(t, "GET", "/v1/things", "")
		loud := false
		for _, rec := range e.lines(t, 1) {
			loud = loud || (rec["level"] == "ERROR" && rec["status"] == 500.0)
			if rec["status"] == 503.0 {
				t.Errorf("%s: %v", name, rec)
			}
		}
		if loud != tt.loud {
			t.Errorf("%s: loud is %v: %s", name, loud, e.log)
		}
	}
}

func TestServerTimingShowsTheDatabase(t *testing.T) {
	each(t, func(t *testing.T, e *edge) {
		got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`)
		if h := got.Header.Get("Server-Timing"); !regexp.MustCompile(`^db;dur=\d+\.\d{3};desc="1 statements"$`).MatchString(h) {
			t.Errorf("Server-Timing %q", h)
		}
	})
}

func TestEveryAnswerCarriesSecurityHeaders(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for _, path := range []string{"/livez", "/nowhere", "/v1/things", "/v1/broken?how=panic", "/docs", "/docs/docs.js", "/problems/lease_lost", "/openapi.json"} {
		h := e.do(t, "GET", path, "").Header
		csp := h.Get("Content-Security-Policy")
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: %v", path, h)
		}
	}
}

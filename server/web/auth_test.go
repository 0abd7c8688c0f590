package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/web"
)

func TestOnlyOneWellFormedTokenIsTaken(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	tests := []struct {
		name    string
		headers []string
		status  int
	}{
		{"valid", []string{"Bearer stint_admin"}, 200},
		{"scheme in another case", []string{"bearer stint_admin"}, 200},
		{"none", nil, 401},
		{"empty", []string{""}, 401},
		{"scheme only", []string{"Bearer"}, 401},
		{"empty token", []string{"Bearer "}, 401},
		{"another scheme", []string{"Basic stint_admin"}, 401},
		{"no scheme", []string{"stint_admin"}, 401},
		{"unknown", []string{"Bearer x"}, 401},
		{"two spaces", []string{"Bearer  stint_admin"}, 401},
		{"space inside", []string{"Bearer stint_admin x"}, 401},
		{"two headers", []string{"Bearer stint_admin", "Bearer stint_admin"}, 401},
		{"list in one header", []string{"Bearer stint_admin, Bearer stint_admin"}, 401},
		{"too long", []string{"Bearer " + strings.Repeat("x", 4000)}, 401},
	}
	for _, tt := range tests {
		r, err := http.NewRequestWithContext(t.Context(), "GET", e.url+"/v1/things", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header["Authorization"] = tt.headers
		got := e.send(t, r)
		if got.Status != tt.status {
			t.Errorf("%s: status %d, want %d", tt.name, got.Status, tt.status)
		}
		if tt.status == 401 && (got.problem(t).Code != "unauthorized" || got.Header.Get("WWW-Authenticate") == "") {
			t.Errorf("%s: no challenge: %s", tt.name, got.body)
		}
	}
}

// The transport trims and refuses what a raw client can send.
func TestRawAuthorizationBytes(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for _, value := range []string{"Bearer stint_admin\x00", "Bearer stint_admin\x01", "Bearer stint_admin\t", "Bearer \u00fcx"} {
		status := e.raw(t, "GET /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: "+value+"\r\n\r\n")
		// Optional white space around a header's value is not part of it.
		if want := strings.HasSuffix(value, "\t"); (status == "200") != want || (status != "200" && status != "400" && status != "401") {
			t.Errorf("%q: status %s", value, status)
		}
	}
}

func TestMissingScopeIsNamed(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	got := e.do(t, "POST", "/v1/things", `{"kind":"a"}`, "Authorization", "Bearer "+readerToken)
	if p := got.problem(t); p.Status != 403 || p.RequiredScope != web.ScopeJobsEnqueue {
		t.Errorf("status %d, required scope %q", p.Status, p.RequiredScope)
	}
	if got := e.do(t, "GET", "/v1/things", "", "Authorization", "Bearer "+readerToken); got.Status != 200 {
		t.Errorf("the token's own scope is refused: %d", got.Status)
	}
}

func TestParseScopes(t *testing.T) {
	t.Parallel()
	got, err := web.ParseScopes("/scopes", []string{"jobs:work", "jobs:read"})
	if err != nil || !slices.Equal(got, []string{"jobs:read", "jobs:work"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range [][]string{nil, {"jobs"}, {"Admin"}, {"admin", "admin"}, {""}} {
		if _, err := web.ParseScopes("/scopes", bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

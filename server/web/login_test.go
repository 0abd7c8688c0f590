package web_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/web"
)

// loginLink is the secret of a new link.
func (e *edge) loginLink(t *testing.T) (secret string) {
	t.Helper()
	owner, err := e.store.OwnerGetByName(t.Context(), model.OwnerGetByNameParams{Name: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	err = e.store.Tx(t.Context(), func(q model.Querier) (err error) {
		secret, _, err = control.NewLink(t.Context(), q, e.store.Now(), control.LinkIn{
			OwnerID: owner.ID, Name: "ada", Scopes: []string{"admin"}, Life: time.Minute, Session: time.Hour,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// way is how a request comes to the server.
type way struct {
	from    string // address of the peer
	to      string // the URL asked for
	headers map[string]string
}

func (v way) request(method, path, form string) *http.Request {
	r := httptest.NewRequest(method, v.to+path, strings.NewReader(form))
	r.RemoteAddr = v.from
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for name, value := range v.headers {
		r.Header.Set(name, value)
	}
	return r
}

// TestLoginNeedsAWayOnWhichNobodyListens: TLS, here or at a trusted proxy, or
// this machine alone.
func TestLoginNeedsAWayOnWhichNobodyListens(t *testing.T) {
	t.Parallel()
	const secure, plain = "__Host-stint=", "stint_session="
	e := one(t, web.Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.9/32")}})
	proto := func(value string) map[string]string { return map[string]string{"X-Forwarded-Proto": value} }
	for name, tt := range map[string]struct {
		way    way
		cookie string // "": refused
	}{
		"TLS":                              {way{"192.0.2.1:5", "https://stint.example", nil}, secure},
		"TLS from this machine":            {way{"127.0.0.1:5", "https://localhost:8480", nil}, secure},
		"this machine":                     {way{"127.0.0.1:5", "http://127.0.0.1:8480", nil}, plain},
		"this machine by name":             {way{"[::1]:5", "http://localhost:8480", nil}, plain},
		"this machine, IPv6":               {way{"[::1]:5", "http://[::1]:8480", nil}, plain},
		"this machine, mapped":             {way{"[::ffff:127.0.0.1]:5", "http://stint.localhost", nil}, plain},
		"elsewhere":                        {way{"192.0.2.1:5", "http://stint.example", nil}, ""},
		"elsewhere, by a loopback name":    {way{"192.0.2.1:5", "http://127.0.0.1", nil}, ""},
		"another name of this machine":     {way{"127.0.0.1:5", "http://stint.example", nil}, ""},
		"a trusted proxy with TLS":         {way{"10.1.2.3:5", "http://stint.example", proto("https")}, secure},
		"a trusted proxy here":             {way{"127.0.0.9:5", "http://127.0.0.1", proto("https")}, secure},
		"a trusted proxy without TLS":      {way{"10.1.2.3:5", "http://stint.example", proto("http")}, ""},
		"a trusted proxy, silent":          {way{"127.0.0.9:5", "http://127.0.0.1", nil}, ""},
		"a proxy nobody named":             {way{"192.0.2.1:5", "http://stint.example", proto("https")}, ""},
		"a proxy here that nobody named":   {way{"127.0.0.1:5", "http://127.0.0.1", proto("https")}, ""},
		"such a proxy with a client's own": {way{"127.0.0.1:5", "http://127.0.0.1", map[string]string{"X-Forwarded-For": "192.0.2.7"}}, ""},
	} {
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, tt.way.request("POST", "/login", url.Values{"code": {e.loginLink(t)}}.Encode()))
		set := w.Header().Get("Set-Cookie")
		switch {
		case tt.cookie == "" && (w.Code != 403 || !strings.Contains(w.Body.String(), `"insecure_login"`) || set != ""):
			t.Errorf("%s: %d %q %s", name, w.Code, set, w.Body)
		case tt.cookie == "":
		case w.Code != 303 || !strings.HasPrefix(set, tt.cookie) || strings.Contains(set, "; Secure") != (tt.cookie == secure) ||
			!strings.Contains(set, "; Path=/; Max-Age=3600; HttpOnly; ") || !strings.HasSuffix(set, "SameSite=Lax") || strings.Contains(set, "Domain"):
			t.Errorf("%s: %d %q %s", name, w.Code, set, w.Body)
		}
		// What was set by one way is taken by that way alone.
		for _, cookie := range []string{secure, plain} {
			w := httptest.NewRecorder()
			r := tt.way.request("GET", "/v1/things", "")
			r.Header.Set("Cookie", cookie+sessionSecret)
			e.Handler().ServeHTTP(w, r)
			if (w.Code == 200) != (cookie == tt.cookie) {
				t.Errorf("%s: a request with %s: %d", name, cookie, w.Code)
			}
		}
	}
}

// TestOriginIsTheServersOwn: as the client sees it, by scheme, name and port.
func TestOriginIsTheServersOwn(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	for origin, status := range map[string]int{
		"https://stint.example": 201, "https://STINT.example": 201, "http://stint.example": 403, "https://stint.example:8443": 403,
		"https://stint.example.evil.example": 403, "https://evil.example/https://stint.example": 403, "stint.example": 403, "": 403,
	} {
		r := httptest.NewRequest("POST", "https://stint.example/v1/things", strings.NewReader(`{"kind":"a"}`))
		r.TLS = &tls.ConnectionState{}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Cookie", "__Host-stint="+sessionSecret)
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		if e.Handler().ServeHTTP(w, r); w.Code != status {
			t.Errorf("%q: %d %s", origin, w.Code, w.Body)
		}
	}
}

// TestLoginPageWorksWithoutAScriptOfItsOwn: the form is whole without a script,
// the policy lets no other run, and nothing of the request is markup in it.
func TestLoginPageWorksWithoutAScriptOfItsOwn(t *testing.T) {
	t.Parallel()
	e := one(t, web.Config{})
	const markup = `"><script>alert(1)</script>`
	for _, headers := range [][]string{nil, {"Cookie", "stint_session=" + sessionSecret}} {
		got := e.do(t, "GET", "/login?next=/x%3F"+url.QueryEscape(markup), "", append([]string{"Authorization", ""}, headers...)...)
		csp := got.Header.Get("Content-Security-Policy")
		if got.StatusCode != 200 || got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Cache-Control") != "no-store" ||
			got.Header.Get("Referrer-Policy") != "same-origin" || !strings.Contains(csp, "default-src 'none'; script-src 'self';") ||
			!strings.Contains(csp, "form-action 'self'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%d %q", got.StatusCode, got.Header)
		}
		for _, want := range []string{`<form method="post" action="/login">`, `name="code" type="password"`, `<script src="/login/login.js" defer></script>`} {
			if !strings.Contains(got.body, want) {
				t.Errorf("no %s in\n%s", want, got.body)
			}
		}
		if signedIn := headers != nil; strings.Contains(got.body, `action="/logout"`) != signedIn {
			t.Errorf("signed in %v:\n%s", signedIn, got.body)
		}
		if strings.Count(got.body, "<script") != 1 || strings.Contains(got.body, " on") && strings.Contains(got.body, "onload=") {
			t.Errorf("the page has a script of its own:\n%s", got.body)
		}
	}
	refused := e.do(t, "POST", "/login", "", "Authorization", "", "Accept", "text/html", "Sec-Fetch-Site", "same-origin")
	if refused.StatusCode != 403 || !strings.Contains(refused.body, "login_link_invalid") || !strings.Contains(refused.body, `action="/login"`) {
		t.Errorf("a browser gets %d %s", refused.StatusCode, refused.body)
	}
	large := e.do(t, "POST", "/login", strings.Repeat("a=b&", 5000), "Authorization", "", "Sec-Fetch-Site", "same-origin", "Content-Type", "application/x-www-form-urlencoded")
	if large.StatusCode != 413 {
		t.Errorf("a large form: %d %s", large.StatusCode, large.body)
	}
}

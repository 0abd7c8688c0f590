package console_test

import (
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/console"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/ops"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// site is a server with the pages of this package, and an owner.
type site struct {
	api   *web.API
	store *store.Store
	owner string
}

// serve is a site on SQLite: no engine has a say in what is tested here.
func serve(t *testing.T, proxies ...netip.Prefix) site {
	t.Helper()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)})
	api := web.New(web.Config{Store: s, Verifier: control.NewVerifier(s), CursorKey: make([]byte, 32), TrustedProxies: proxies, Log: slog.New(slog.DiscardHandler)})
	ops.Routes(api)
	console.Routes(api, s)
	return site{api, s, dbtest.Owner(t, s, "ada").ID}
}

func (s site) answer(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.api.Handler().ServeHTTP(w, r)
	return w
}

// link is the secret of a new login link.
func (s site) link(t *testing.T) (secret string) {
	t.Helper()
	err := s.store.Tx(t.Context(), func(q model.Querier) (err error) {
		secret, _, err = control.NewLink(t.Context(), q, s.store.Now(), control.LinkIn{
			OwnerID: s.owner, Name: "ada", Scopes: []string{"admin"}, Life: time.Minute, Session: time.Hour,
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// session is the secret of a new session.
func (s site) session(t *testing.T) (secret string) {
	t.Helper()
	link := s.link(t)
	err := s.store.Tx(t.Context(), func(q model.Querier) (err error) {
		secret, _, err = control.Login(t.Context(), q, s.store.Now(), link)
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

// here is from this machine.
func here(headers map[string]string) way { return way{"127.0.0.1:5", "http://127.0.0.1:8480", headers} }

// TestLoginNeedsAnEncryptedOrLocalConnection: TLS, here or at a trusted proxy, or
// this machine alone.
func TestLoginNeedsAnEncryptedOrLocalConnection(t *testing.T) {
	t.Parallel()
	const secure, plain, port80 = "__Host-stint=", "stint_session_8480=", "stint_session_80="
	s := serve(t, netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.9/32"))
	session := s.session(t)
	proto := func(value string) map[string]string { return map[string]string{"X-Forwarded-Proto": value} }
	for name, tt := range map[string]struct {
		way    way
		cookie string // "": refused
	}{
		"TLS":                              {way{"192.0.2.1:5", "https://stint.example", nil}, secure},
		"TLS from this machine":            {way{"127.0.0.1:5", "https://localhost:8443", nil}, "__Host-stint_8443="},
		"this machine":                     {way{"127.0.0.1:5", "http://127.0.0.1:8480", nil}, plain},
		"this machine by name":             {way{"[::1]:5", "http://localhost:8480", nil}, plain},
		"this machine, IPv6":               {way{"[::1]:5", "http://[::1]:8480", nil}, plain},
		"this machine, mapped":             {way{"[::ffff:127.0.0.1]:5", "http://stint.localhost", nil}, port80},
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
		w := s.answer(tt.way.request("POST", "/login", url.Values{"code": {s.link(t)}}.Encode()))
		set := w.Header().Get("Set-Cookie")
		switch {
		case tt.cookie == "" && (w.Code != 403 || !strings.Contains(w.Body.String(), `"insecure_login"`) || set != ""):
			t.Errorf("%s: %d %q %s", name, w.Code, set, w.Body)
		case tt.cookie == "":
		case w.Code != 303 || !strings.HasPrefix(set, tt.cookie) || strings.Contains(set, "; Secure") != strings.HasPrefix(tt.cookie, "__Host-") ||
			!strings.Contains(set, "; Path=/; Max-Age=3600; HttpOnly; ") || !strings.HasSuffix(set, "SameSite=Lax") || strings.Contains(set, "Domain"):
			t.Errorf("%s: %d %q %s", name, w.Code, set, w.Body)
		}
		// What was set by one way is taken by that way alone.
		for _, cookie := range []string{secure, plain, port80, "stint_session=", "__Host-stint_8443="} {
			r := tt.way.request("GET", "/v1/whoami", "")
			r.Header.Set("Cookie", cookie+session)
			if w := s.answer(r); (w.Code == 200) != (cookie == tt.cookie) {
				t.Errorf("%s: a request with %s: %d", name, cookie, w.Code)
			}
		}
	}
}

// TestLoginPageWorksWithoutAScriptOfItsOwn: the form is whole without a script,
// the policy lets no other run, and nothing of the request is markup in it.
func TestLoginPageWorksWithoutAScriptOfItsOwn(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const markup = `"><script>alert(1)</script>`
	for _, cookie := range []string{"", "stint_session_8480=" + s.session(t)} {
		got := s.answer(here(map[string]string{"Cookie": cookie}).request("GET", "/login?next=/x%3F"+url.QueryEscape(markup), ""))
		header, body := got.Header(), got.Body.String()
		csp := header.Get("Content-Security-Policy")
		if got.Code != 200 || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store" ||
			header.Get("Referrer-Policy") != "same-origin" || !strings.Contains(csp, "default-src 'none'; script-src 'self';") ||
			!strings.Contains(csp, "form-action 'self'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%d %q", got.Code, header)
		}
		for _, want := range []string{`<form method="post" action="/login">`, `name="code" type="password"`, `<script src="/login/login.js" defer></script>`} {
			if !strings.Contains(body, want) {
				t.Errorf("no %s in\n%s", want, body)
			}
		}
		if signedIn := cookie != ""; strings.Contains(body, `action="/logout"`) != signedIn {
			t.Errorf("signed in %v:\n%s", signedIn, body)
		}
		if strings.Count(body, "<script") != 1 || strings.Contains(body, "onload=") {
			t.Errorf("the page has a script of its own:\n%s", body)
		}
	}
	refused := s.answer(here(map[string]string{"Accept": "text/html"}).request("POST", "/login", ""))
	if body := refused.Body.String(); refused.Code != 403 || !strings.Contains(body, "login_link_invalid") || !strings.Contains(body, `action="/login"`) {
		t.Errorf("a browser gets %d %s", refused.Code, body)
	}
	if large := s.answer(here(nil).request("POST", "/login", strings.Repeat("a=b&", 5000))); large.Code != 413 {
		t.Errorf("a large form: %d %s", large.Code, large.Body)
	}
}

// TestLogoutIsKnownToReplicasThatWereNotTold: it ends the session in the database,
// where another replica looks.
func TestLogoutIsKnownToReplicasThatWereNotTold(t *testing.T) {
	t.Parallel()
	s := serve(t)
	ended, other := s.session(t), s.session(t)
	if w := s.answer(here(map[string]string{"Cookie": "stint_session_8480=" + ended}).request("POST", "/logout", "")); w.Code != 303 {
		t.Fatalf("the logout: %d %s", w.Code, w.Body)
	}
	replica := control.NewVerifier(s.store)
	if p, err := replica.VerifySession(t.Context(), ended); err == nil {
		t.Errorf("the session still stands for %+v", p)
	}
	if _, err := replica.VerifySession(t.Context(), other); err != nil {
		t.Errorf("another session: %v", err)
	}
}

// TestTwoServersOfOneHostKeepTheirSessions: a browser has one store of cookies for
// all ports of a host.
func TestTwoServersOfOneHostKeepTheirSessions(t *testing.T) {
	t.Parallel()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	asked := func(method, url, form string) int {
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	var servers []*httptest.Server
	for range 2 {
		s := serve(t)
		server := httptest.NewServer(s.api.Handler())
		t.Cleanup(server.Close)
		servers = append(servers, server)
		if status := asked("POST", server.URL+"/login", url.Values{"code": {s.link(t)}}.Encode()); status != 303 {
			t.Fatalf("sign in: %d", status)
		}
	}
	for i, server := range servers {
		if status := asked("GET", server.URL+"/v1/whoami", ""); status != 200 {
			t.Errorf("the session of server %d: %d", i, status)
		}
	}
}

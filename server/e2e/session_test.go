package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

// link makes a login link as c, and returns its secret.
func link(c *client, members string) (secret string) {
	c.t.Helper()
	path := c.must(201, "/v1/login-links", `{"name":"ada"`+members+`}`).str("path")
	secret, ok := strings.CutPrefix(path, "/login#")
	if !ok {
		c.t.Fatalf("the link leads to %q", path)
	}
	return secret
}

// own is what a browser adds to a request that a page of the server made.
func (c *client) own() []string { return []string{"Origin", c.base(), "Sec-Fetch-Site", "same-origin"} }

// submit posts a form, as a page of the server does.
func (c *client) submit(path string, form url.Values, headers ...string) answer {
	c.t.Helper()
	headers = append(append(c.own(), "Content-Type", "application/x-www-form-urlencoded"), headers...)
	return c.as("").call(http.MethodPost, path, form.Encode(), headers...)
}

func (c *client) login(secret string) answer {
	c.t.Helper()
	return c.submit("/login", url.Values{"code": {secret}})
}

var cookies = regexp.MustCompile(`^stint_session=(stint_session_[0-9A-Za-z]{33}); Path=/; Max-Age=(\d+); HttpOnly; SameSite=Lax$`)

// signIn begins a session, and returns its cookie as a browser sends it.
func signIn(c *client, members string) (cookie string) {
	c.t.Helper()
	a := c.login(link(c, members))
	hit := cookies.FindStringSubmatch(a.Header.Get("Set-Cookie"))
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/docs" || hit == nil {
		c.t.Fatalf("the login: %s %q", a, a.Header)
	}
	return "stint_session=" + hit[1]
}

func TestLinkBeginsOneSession(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		secret := link(s.client, `,"scopes":["jobs:read","tokens:write"],"session_seconds":300`)
		for _, method := range []string{"GET", "HEAD"} { // as mail scanners and previews do
			for _, path := range []string{"/login", "/login?code=" + secret, "/login?next=/docs"} {
				if a := s.as("").call(method, path, ""); a.Status != 200 || a.Header.Get("Set-Cookie") != "" {
					t.Errorf("%s %s: %d %q", method, path, a.Status, a.Header)
				}
			}
		}
		a := s.login(secret)
		hit := cookies.FindStringSubmatch(a.Header.Get("Set-Cookie"))
		if a.Status != 303 || hit == nil || hit[2] != "300" {
			t.Fatalf("the login: %s %q", a, a.Header)
		}
		browser := s.as("")
		me := browser.get("/v1/whoami", "Cookie", "stint_session="+hit[1])
		if me.str("kind") != "session" || me.str("token_name") != "ada" || me.str("owner") != "ada" || me.len("scopes") != 2 || me.str("expires_at") == "" {
			t.Errorf("the session is %s", me)
		}
		if a := browser.get("/v1/runs", "Cookie", "stint_session="+hit[1]); a.Status != 200 {
			t.Errorf("a scope that the session has: %s", a)
		}
		if a := browser.get("/v1/repos/x", "Cookie", "stint_session="+hit[1]); a.Status != 404 && a.str("required_scope") == "" {
			t.Errorf("a scope that the session lacks: %s", a)
		}
		if a := s.get("/v1/tokens?limit=1"); a.str("data.0.kind") != "session" || a.str("data.0.id") != me.str("token_id") {
			t.Errorf("the list of tokens begins with %s", a)
		}
		gone := link(s.client, "")
		s.db.exec("delete from login_links where used_at is null")
		unknown := s.login(gone)
		if used := s.login(secret); unknown.Status != 403 || bare(used, "") != bare(unknown, "") {
			t.Errorf("a used link: %s\nan unknown one: %s", used, unknown)
		}
		for _, text := range []string{"", secret[:len(secret)-1], secret + "x", hit[1], s.token} {
			if a := s.login(text); a.Status != 403 || a.str("code") != "login_link_invalid" || a.Header.Get("Set-Cookie") != "" {
				t.Errorf("a link that begins nothing: %s", a)
			}
		}
	})
}

func TestLinkThatRanOutBeginsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		secret, other := link(s.client, ""), link(s.client, `,"ttl_seconds":3600`)
		moved(s, 10*time.Minute+time.Second)
		if a := s.login(secret); a.Status != 403 || a.str("code") != "login_link_invalid" {
			t.Errorf("a link of ten minutes ago: %s", a)
		}
		if a := s.login(other); a.Status != 303 {
			t.Errorf("a link of an hour, after ten minutes: %s", a)
		}
	})
}

// moved lets time pass for the server: its clock is the store's.
func moved(s *inProcess, d time.Duration) {
	now := s.store.Now().Add(d)
	s.store.SetClock(func() coltype.Time { return now })
}

func TestOneOfManyLoginsByALinkWins(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		secret := link(s.client, "")
		var outcomes tally
		together(16, func(int) {
			a := s.login(secret)
			for a.Status == http.StatusServiceUnavailable { // a busy machine's lock; it changed nothing
				a = s.login(secret)
			}
			outcomes.add(fmt.Sprint(a.Status, a.str("code")))
		})
		if outcomes.n["303"] != 1 || outcomes.n["403login_link_invalid"] != 15 {
			t.Errorf("%v", outcomes.n)
		}
		if n := s.db.number("select count(*) from tokens where kind = 'session'"); n != 1 {
			t.Errorf("%d sessions", n)
		}
	})
}

// TestSecretsWorkInTheirPlaceAlone: a session is no bearer token, a token no
// session, and a link neither.
func TestSecretsWorkInTheirPlaceAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		cookie := signIn(s.client, "")
		_, session, _ := strings.Cut(cookie, "=")
		secret := link(s.client, "")
		for name, token := range map[string]string{"session": session, "link": secret} {
			if a := s.as(token).get("/v1/whoami"); a.Status != 401 {
				t.Errorf("a %s as a bearer token: %s", name, a)
			}
		}
		for name, sent := range map[string]string{
			"a token": "stint_session=" + s.token, "a link": "stint_session=" + secret, "nothing": "stint_session=", "more": cookie + "x",
			"two": cookie + "; " + cookie, "the cookie of TLS": "__Host-stint=" + session, "another case": strings.ToUpper(cookie),
		} {
			if a := s.as("").get("/v1/whoami", "Cookie", sent); a.Status != 401 {
				t.Errorf("%s as a cookie: %s", name, a)
			}
		}
		// The header decides, good or bad; the cookie beside it counts for nothing.
		if a := s.get("/v1/whoami", "Cookie", cookie); a.str("kind") != "bearer" {
			t.Errorf("a token and a cookie: %s", a)
		}
		if a := s.as("stint_x").get("/v1/whoami", "Cookie", cookie); a.Status != 401 {
			t.Errorf("a bad token and a cookie: %s", a)
		}
		if a := s.post("/v1/jobs", `{"kind":"review"}`, "Cookie", cookie, "Origin", "https://evil.example"); a.Status != 201 {
			t.Errorf("a token needs an Origin: %s", a)
		}
	})
}

func TestSessionEndsAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		works := func(cookie string) bool { return s.as("").get("/v1/whoami", "Cookie", cookie).Status == 200 }
		first, second, third := signIn(s.client, ""), signIn(s.client, ""), signIn(s.client, `,"session_seconds":300`)
		if !works(first) || !works(second) || !works(third) {
			t.Fatal("a session does not work")
		}
		a := s.submit("/logout", nil, "Cookie", first)
		if a.Status != 303 || a.Header.Get("Location") != "/login" || a.Header.Get("Set-Cookie") != "stint_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" {
			t.Errorf("the logout: %s %q", a, a.Header)
		}
		if works(first) || !works(second) {
			t.Error("the logout ended another session, or none")
		}
		if a := s.submit("/logout", nil, "Cookie", first); a.Status != 303 {
			t.Errorf("a logout without a session: %s", a)
		}
		id := s.as("").get("/v1/whoami", "Cookie", second).str("token_id")
		s.must(200, "/v1/tokens/"+id+"/revoke", "")
		if works(second) {
			t.Error("a revoked session works")
		}
		moved(s, 5*time.Minute)
		if works(third) {
			t.Error("a session works beyond its length")
		}
	})
}

// TestAnotherSiteChangesNothing (SEC-04): whatever a page of another site makes
// the owner's browser send, with its cookie, no row changes.
func TestAnotherSiteChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		eachRoute(t, s, func(t *testing.T, o operation, c *client) {
			to := rows[o.id](c)
			cookie := signIn(c, "")
			before := everything(s)
			send := func(c *client, headers ...string) answer {
				with := to
				with.headers = append(append([]string{"Cookie", cookie}, headers...), to.headers...)
				return o.send(c, with)
			}
			browser := c.as("")
			for name, headers := range elsewhere {
				a := send(browser, headers...)
				if o.mutates && (a.Status != 403 || a.str("code") != "cross_origin") || a.Status == 401 {
					t.Errorf("%s: %s", name, a)
				}
				if name := a.Header.Get("Access-Control-Allow-Origin"); name != "" {
					t.Errorf("other sites may read the answer: %q", name)
				}
			}
			if o.mutates {
				if a := browser.get(pathParam.ReplaceAllLiteralString(o.path, to.param), "Cookie", cookie); a.Status < 400 && !readable(t, c, o.path) {
					t.Errorf("GET: %s", a)
				}
			}
			preflight := browser.call("OPTIONS", pathParam.ReplaceAllLiteralString(o.path, to.param), "", "Origin", "https://evil.example", "Access-Control-Request-Method", o.method)
			for name := range preflight.Header {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("a preflight is answered with %s", name)
				}
			}
			if after := everything(s); after != before {
				t.Errorf("a row changed:\n%s\n%s", before, after)
			}
			succeeds(t, o, send(browser, c.own()...))
		})
	})
}

// elsewhere is what browsers add to a request that no page of ours has made.
var elsewhere = map[string][]string{
	"another origin":         {"Origin", "https://evil.example"},
	"another port":           {"Origin", "http://127.0.0.1:1"},
	"another site":           {"Sec-Fetch-Site", "cross-site"},
	"a sister site":          {"Sec-Fetch-Site", "same-site", "Origin", "http://sister.localhost"},
	"a bookmark":             {"Sec-Fetch-Site", "none"},
	"nothing":                nil,
	"a sandbox":              {"Origin", "null"},
	"a sandbox elsewhere":    {"Origin", "null", "Sec-Fetch-Site", "cross-site"},
	"a contradiction":        {"Origin", "https://evil.example", "Sec-Fetch-Site", "same-origin"},
	"an older contradiction": {"Origin", "https://evil.example", "Referer", "http://127.0.0.1/login"},
}

// readable reports whether the path also has a GET.
func readable(t *testing.T, c *client, path string) bool {
	for _, o := range operations(t, c) {
		if o.path == path && o.method == http.MethodGet {
			return true
		}
	}
	return false
}

// TestAnotherSiteCannotLogInOrOut: who can make a browser log in, with a link of
// its own, has the owner work for somebody else.
func TestAnotherSiteCannotLogInOrOut(t *testing.T) {
	t.Parallel()
	s := serveOn(t, store.SQLite, store.Config{})
	secret, cookie := link(s.client, ""), signIn(s.client, "")
	for name, headers := range elsewhere {
		for _, path := range []string{"/login", "/logout"} {
			headers := append([]string{"Content-Type", "application/x-www-form-urlencoded", "Cookie", cookie}, headers...)
			a := s.as("").call("POST", path, url.Values{"code": {secret}}.Encode(), headers...)
			if a.Status != 403 || a.str("code") != "cross_origin" || a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s, %s: %s", path, name, a)
			}
		}
	}
	for _, path := range []string{"/login", "/logout"} { // by a link or an image
		if a := s.as("").get(path, "Cookie", cookie); a.Header.Get("Set-Cookie") != "" {
			t.Errorf("GET %s: %q", path, a.Header)
		}
	}
	if a := s.as("").get("/v1/whoami", "Cookie", cookie); a.Status != 200 {
		t.Errorf("the session: %s", a)
	}
	if a := s.login(secret); a.Status != 303 {
		t.Errorf("the link: %s", a)
	}
}

func TestLoginLeadsToThisServerAlone(t *testing.T) {
	t.Parallel()
	s := serveOn(t, store.SQLite, store.Config{})
	for next, want := range map[string]string{
		"": "/docs", "/docs": "/docs", "/console?state=failed&kind=a%2Fb": "/console?state=failed&kind=a%2Fb", "//evil.example": "/docs",
		"https://evil.example": "/docs", `/\evil.example`: "/docs", "/%5cevil.example": "/docs", "/\t/evil.example": "/docs", "evil.example": "/docs",
		"/%2f/evil.example": "/docs", "javascript:alert(1)": "/docs", "/a\r\nSet-Cookie: x=1": "/docs", "///evil.example": "/docs", "?next=//evil": "/docs",
	} {
		a := s.submit("/login", url.Values{"code": {link(s.client, "")}, "next": {next}})
		if got := a.Header.Get("Location"); a.Status != 303 || got != want {
			t.Errorf("%q leads to %q", next, got)
		}
		shown := string(s.as("").get("/login?next=" + url.QueryEscape(next)).Body)
		if !strings.Contains(shown, `name="next" value="`+strings.ReplaceAll(want, "&", "&amp;")+`"`) {
			t.Errorf("%q is in the page as\n%s", next, shown)
		}
	}
}

// TestSecretsOfLoginsAreShownNowhere: every server's log is searched when its
// test ends, at debug level.
func TestSecretsOfLoginsAreShownNowhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		secret := link(s.client, "")
		browser := []string{"Accept", "text/html"}
		cookie := signIn(s.client, "")
		_, session, _ := strings.Cut(cookie, "=")
		var shown strings.Builder
		for _, text := range []string{secret, session, secret + "x", "%zz" + secret} {
			s.get("/login?code=" + text)
			s.get("/login/" + url.PathEscape(text))
			shown.Write(s.submit("/login", url.Values{"code": {text + "x"}}, browser...).Body)
			shown.WriteString(s.submit("/login?"+text, url.Values{text: {text}}).String())
			shown.WriteString(s.submit("/login", nil, "Cookie", "stint_session="+text, "Referer", s.base()+"/login#"+text).String())
			s.as("").call("POST", "/login", "code=%zz"+text, append(s.own(), "Content-Type", "application/x-www-form-urlencoded")...)
			s.as("").call("POST", "/login", `{"code":"`+text+`"}`, s.own()...)
			s.as("").post("/v1/jobs", `{"kind":7}`, "Cookie", "stint_session="+text)
		}
		shown.Write(s.as("").get("/login", "Cookie", cookie, "Accept", "text/html").Body)
		shown.WriteString(s.get("/v1/tokens").String())
		if hit := secrets.FindString(shown.String()); hit != "" {
			t.Errorf("%q is shown", hit)
		}
		for _, table := range []string{"tokens", "login_links"} {
			if hit := secrets.FindString(s.db.dump(table, "true")); hit != "" {
				t.Errorf("%s holds %q", table, hit)
			}
		}
	})
}

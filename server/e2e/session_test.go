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
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

// link makes a login link as c, and returns its secret.
func link(c *apitest.Client, members string) (secret string) {
	c.T.Helper()
	path := c.Must(201, "/v1/login-links", `{"name":"ada"`+members+`}`).Str("path")
	secret, ok := strings.CutPrefix(path, "/login#")
	if !ok {
		c.T.Fatalf("the link leads to %q", path)
	}
	return secret
}

// own is what a browser adds to a request that a page of the server made.
func own(c *apitest.Client) []string {
	return []string{"Origin", c.Base(), "Sec-Fetch-Site", "same-origin"}
}

// submit posts a form, as a page of the server does.
func submit(c *apitest.Client, path string, form url.Values, headers ...string) apitest.Answer {
	c.T.Helper()
	headers = append(append(own(c), "Content-Type", "application/x-www-form-urlencoded"), headers...)
	return c.As("").Call(http.MethodPost, path, form.Encode(), headers...)
}

func login(c *apitest.Client, secret string) apitest.Answer {
	c.T.Helper()
	return submit(c, "/login", url.Values{"code": {secret}})
}

var cookies = regexp.MustCompile(`^stint_session_\d+=(stint_session_[0-9A-Za-z]{33}); Path=/; Max-Age=(\d+); HttpOnly; SameSite=Lax$`)

// cookieOf is a cookie as a browser sends it to the server: its name has the port.
func cookieOf(c *apitest.Client, secret string) string {
	_, port, _ := strings.Cut(strings.TrimPrefix(c.Base(), "http://"), ":")
	return "stint_session_" + port + "=" + secret
}

// signIn begins a session, and returns its cookie as a browser sends it.
func signIn(c *apitest.Client, members string) (cookie string) {
	c.T.Helper()
	a := login(c, link(c, members))
	hit := cookies.FindStringSubmatch(a.Header.Get("Set-Cookie"))
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/docs" || hit == nil {
		c.T.Fatalf("the login: %s %q", a, a.Header)
	}
	return cookieOf(c, hit[1])
}

func TestLinkBeginsOneSession(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		secret := link(s.Client, `,"scopes":["jobs:read","tokens:write"],"session_seconds":300`)
		for _, method := range []string{"GET", "HEAD"} { // as mail scanners and previews do
			for _, path := range []string{"/login", "/login?code=" + secret, "/login?next=/docs"} {
				if a := s.As("").Call(method, path, ""); a.Status != 200 || a.Header.Get("Set-Cookie") != "" {
					t.Errorf("%s %s: %d %q", method, path, a.Status, a.Header)
				}
			}
		}
		a := login(s.Client, secret)
		hit := cookies.FindStringSubmatch(a.Header.Get("Set-Cookie"))
		if a.Status != 303 || hit == nil || hit[2] != "300" {
			t.Fatalf("the login: %s %q", a, a.Header)
		}
		browser := s.As("")
		me := browser.Get("/v1/whoami", "Cookie", cookieOf(s.Client, hit[1]))
		if me.Str("kind") != "session" || me.Str("token_name") != "ada" || me.Str("owner") != s.Owner || me.Len("scopes") != 2 || me.Str("expires_at") == "" {
			t.Errorf("the session is %s", me)
		}
		if a := browser.Get("/v1/runs", "Cookie", cookieOf(s.Client, hit[1])); a.Status != 200 {
			t.Errorf("a scope that the session has: %s", a)
		}
		if a := browser.Get("/v1/repos/x", "Cookie", cookieOf(s.Client, hit[1])); a.Status != 404 && a.Str("required_scope") == "" {
			t.Errorf("a scope that the session lacks: %s", a)
		}
		if a := s.Get("/v1/tokens?limit=1"); a.Str("data.0.kind") != "session" || a.Str("data.0.id") != me.Str("token_id") {
			t.Errorf("the list of tokens begins with %s", a)
		}
		gone := link(s.Client, "")
		owned, args := ownedBy(s.Owner)
		s.db.exec("delete from login_links where used_at is null and "+owned, args...)
		unknown := login(s.Client, gone)
		if used := login(s.Client, secret); unknown.Status != 403 || bare(used, "") != bare(unknown, "") {
			t.Errorf("a used link: %s\nan unknown one: %s", used, unknown)
		}
		for _, text := range []string{"", secret[:len(secret)-1], secret + "x", hit[1], s.Token} {
			if a := login(s.Client, text); a.Status != 403 || a.Str("code") != "login_link_invalid" || a.Header.Get("Set-Cookie") != "" {
				t.Errorf("a link that begins nothing: %s", a)
			}
		}
	})
}

func TestLinkThatRanOutBeginsNothing(t *testing.T) {
	t.Parallel()
	eachOwn(t, func(t *testing.T, s *inProcess) {
		secret, other := link(s.Client, ""), link(s.Client, `,"ttl_seconds":3600`)
		moved(s, 10*time.Minute+time.Second)
		if a := login(s.Client, secret); a.Status != 403 || a.Str("code") != "login_link_invalid" {
			t.Errorf("a link of ten minutes ago: %s", a)
		}
		if a := login(s.Client, other); a.Status != 303 {
			t.Errorf("a link of an hour, after ten minutes: %s", a)
		}
	})
}

// moved lets time pass for the server: its clock is the store's.
func moved(s *inProcess, d time.Duration) {
	now := s.Store.Now().Add(d)
	s.Store.SetClock(func() coltype.Time { return now })
}

func TestOneOfManyLoginsByALinkWins(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		secret := link(s.Client, "")
		var outcomes tally
		together(16, func(int) {
			a := login(s.Client, secret)
			outcomes.add(fmt.Sprint(a.Status, a.Str("code")))
		})
		if outcomes.n["303"] != 1 || outcomes.n["403login_link_invalid"] != 15 {
			t.Errorf("%v", outcomes.n)
		}
		if n := s.count("tokens where kind = 'session'"); n != 1 {
			t.Errorf("%d sessions", n)
		}
	})
}

// TestSecretsWorkInTheirPlaceAlone: a session is no bearer token, a token no
// session, and a link neither.
func TestSecretsWorkInTheirPlaceAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		cookie := signIn(s.Client, "")
		_, session, _ := strings.Cut(cookie, "=")
		secret := link(s.Client, "")
		for name, token := range map[string]string{"session": session, "link": secret} {
			if a := s.As(token).Get("/v1/whoami"); a.Status != 401 {
				t.Errorf("a %s as a bearer token: %s", name, a)
			}
		}
		for name, sent := range map[string]string{
			"a token": cookieOf(s.Client, s.Token), "a link": cookieOf(s.Client, secret), "nothing": cookieOf(s.Client, ""), "more": cookie + "x",
			"two": cookie + "; " + cookie, "the cookie of TLS": "__Host-stint=" + session, "the cookie of no port": "stint_session=" + session, "another case": strings.ToUpper(cookie),
		} {
			if a := s.As("").Get("/v1/whoami", "Cookie", sent); a.Status != 401 {
				t.Errorf("%s as a cookie: %s", name, a)
			}
		}
		// The header decides, good or bad; the cookie beside it counts for nothing.
		if a := s.Get("/v1/whoami", "Cookie", cookie); a.Str("kind") != "bearer" {
			t.Errorf("a token and a cookie: %s", a)
		}
		if a := s.As("stint_x").Get("/v1/whoami", "Cookie", cookie); a.Status != 401 {
			t.Errorf("a bad token and a cookie: %s", a)
		}
		if a := s.Post("/v1/jobs", `{"kind":"review"}`, "Cookie", cookie, "Origin", "https://evil.example"); a.Status != 201 {
			t.Errorf("a token needs an Origin: %s", a)
		}
	})
}

func TestSessionEndsAtOnce(t *testing.T) {
	t.Parallel()
	eachOwn(t, func(t *testing.T, s *inProcess) {
		works := func(cookie string) bool { return s.As("").Get("/v1/whoami", "Cookie", cookie).Status == 200 }
		first, second, third := signIn(s.Client, ""), signIn(s.Client, ""), signIn(s.Client, `,"session_seconds":300`)
		if !works(first) || !works(second) || !works(third) {
			t.Fatal("a session does not work")
		}
		a := submit(s.Client, "/logout", nil, "Cookie", first)
		if a.Status != 303 || a.Header.Get("Location") != "/login" || a.Header.Get("Set-Cookie") != cookieOf(s.Client, "")+"; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" {
			t.Errorf("the logout: %s %q", a, a.Header)
		}
		if works(first) || !works(second) {
			t.Error("the logout ended another session, or none")
		}
		if a := submit(s.Client, "/logout", nil, "Cookie", first); a.Status != 303 {
			t.Errorf("a logout without a session: %s", a)
		}
		id := s.As("").Get("/v1/whoami", "Cookie", second).Str("token_id")
		s.Must(200, "/v1/tokens/"+id+"/revoke", "")
		if works(second) {
			t.Error("a revoked session works")
		}
		moved(s, 5*time.Minute)
		if works(third) {
			t.Error("a session works beyond its length")
		}
	})
}

// TestWhatARevokedTokenMadeEndsAtOnce, also what this replica has just verified.
func TestWhatARevokedTokenMadeEndsAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		made := s.Must(201, "/v1/tokens", `{"name":"maker","scopes":["admin"]}`)
		maker := s.As(made.Str("secret"))
		below := s.As(maker.Must(201, "/v1/tokens", `{"name":"made","scopes":["admin"]}`).Str("secret"))
		cookie := signIn(maker, "")
		answers := func() [3]int {
			return [3]int{maker.Get("/v1/whoami").Status, below.Get("/v1/whoami").Status, s.As("").Get("/v1/whoami", "Cookie", cookie).Status}
		}
		if got := answers(); got != [3]int{200, 200, 200} {
			t.Fatalf("the token, the one it made, the session of its link: %v", got)
		}
		s.Must(200, "/v1/tokens/"+made.Str("token.id")+"/revoke?with_made=true", "")
		if got := answers(); got != [3]int{401, 401, 401} {
			t.Errorf("after the revocation: %v", got)
		}
	})
}

// TestAnotherSiteChangesNothing (SEC-04): whatever a page of another site makes
// the owner's browser send, with its cookie, no row changes.
func TestAnotherSiteChangesNothing(t *testing.T) {
	t.Parallel()
	s := shared(t, store.SQLite)
	eachRoute(t, s, func(t *testing.T, o operation, c *apitest.Client, owner string) {
		to := rows[o.id](c)
		cookie := signIn(c, "")
		before := everything(s, owner)
		send := func(c *apitest.Client, headers ...string) apitest.Answer {
			with := to
			with.headers = append(append([]string{"Cookie", cookie}, headers...), to.headers...)
			return o.send(c, with)
		}
		browser := c.As("")
		for name, headers := range elsewhere {
			a := send(browser, headers...)
			if o.mutates && (a.Status != 403 || a.Str("code") != "cross_origin") || a.Status == 401 {
				t.Errorf("%s: %s", name, a)
			}
			if name := a.Header.Get("Access-Control-Allow-Origin"); name != "" {
				t.Errorf("other sites may read the answer: %q", name)
			}
		}
		if o.mutates {
			if a := browser.Get(o.to(to), "Cookie", cookie); a.Status < 400 && !readable(t, c, o.path) {
				t.Errorf("GET: %s", a)
			}
		}
		preflight := browser.Call("OPTIONS", o.to(to), "", "Origin", "https://evil.example", "Access-Control-Request-Method", o.method)
		for name := range preflight.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("a preflight is answered with %s", name)
			}
		}
		if after := everything(s, owner); after != before {
			t.Errorf("a row changed:\n%s\n%s", before, after)
		}
		succeeds(t, o, send(browser, own(c)...))
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
func readable(t *testing.T, c *apitest.Client, path string) bool {
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
	s := shared(t, store.SQLite)
	secret, cookie := link(s.Client, ""), signIn(s.Client, "")
	for name, headers := range elsewhere {
		for _, path := range []string{"/login", "/logout"} {
			headers := append([]string{"Content-Type", "application/x-www-form-urlencoded", "Cookie", cookie}, headers...)
			a := s.As("").Call("POST", path, url.Values{"code": {secret}}.Encode(), headers...)
			if a.Status != 403 || a.Str("code") != "cross_origin" || a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s, %s: %s", path, name, a)
			}
		}
	}
	for _, path := range []string{"/login", "/logout"} { // by a link or an image
		if a := s.As("").Get(path, "Cookie", cookie); a.Header.Get("Set-Cookie") != "" {
			t.Errorf("GET %s: %q", path, a.Header)
		}
	}
	if a := s.As("").Get("/v1/whoami", "Cookie", cookie); a.Status != 200 {
		t.Errorf("the session: %s", a)
	}
	if a := login(s.Client, secret); a.Status != 303 {
		t.Errorf("the link: %s", a)
	}
}

func TestLoginLeadsToThisServerAlone(t *testing.T) {
	t.Parallel()
	s := shared(t, store.SQLite)
	for next, want := range map[string]string{
		"": "/docs", "/docs": "/docs", "/console?state=failed&kind=a%2Fb": "/console?state=failed&kind=a%2Fb", "//evil.example": "/docs",
		"https://evil.example": "/docs", `/\evil.example`: "/docs", "/%5cevil.example": "/docs", "/\t/evil.example": "/docs", "evil.example": "/docs",
		"/%2f/evil.example": "/docs", "javascript:alert(1)": "/docs", "/a\r\nSet-Cookie: x=1": "/docs", "///evil.example": "/docs", "?next=//evil": "/docs",
	} {
		a := submit(s.Client, "/login", url.Values{"code": {link(s.Client, "")}, "next": {next}})
		if got := a.Header.Get("Location"); a.Status != 303 || got != want {
			t.Errorf("%q leads to %q", next, got)
		}
		shown := string(s.As("").Get("/login?next=" + url.QueryEscape(next)).Body)
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
		secret := link(s.Client, "")
		browser := []string{"Accept", "text/html"}
		cookie := signIn(s.Client, "")
		_, session, _ := strings.Cut(cookie, "=")
		var shown strings.Builder
		for _, text := range []string{secret, session, secret + "x", "%zz" + secret} {
			s.Get("/login?code=" + text)
			s.Get("/login/" + url.PathEscape(text))
			shown.Write(submit(s.Client, "/login", url.Values{"code": {text + "x"}}, browser...).Body)
			shown.WriteString(submit(s.Client, "/login?"+text, url.Values{text: {text}}).String())
			shown.WriteString(submit(s.Client, "/login", nil, "Cookie", cookieOf(s.Client, text), "Referer", s.Base()+"/login#"+text).String())
			s.As("").Call("POST", "/login", "code=%zz"+text, append(own(s.Client), "Content-Type", "application/x-www-form-urlencoded")...)
			s.As("").Call("POST", "/login", `{"code":"`+text+`"}`, own(s.Client)...)
			s.As("").Post("/v1/jobs", `{"kind":7}`, "Cookie", cookieOf(s.Client, text))
		}
		shown.Write(s.As("").Get("/login", "Cookie", cookie, "Accept", "text/html").Body)
		shown.WriteString(s.Get("/v1/tokens").String())
		if hit := apitest.Secrets.FindString(shown.String()); hit != "" {
			t.Errorf("%q is shown", hit)
		}
		owned, args := ownedBy(s.Owner)
		for _, table := range []string{"tokens", "login_links"} {
			rows := strings.ReplaceAll(s.db.dump(table, owned, args...), " bearer ", " ") // the kind of a token is no header
			if hit := apitest.Secrets.FindString(rows); hit != "" {
				t.Errorf("%s holds %q", table, hit)
			}
		}
	})
}

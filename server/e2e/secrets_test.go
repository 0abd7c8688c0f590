package e2e

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
)

// awkward is a password with every character that URLs and libraries trip over.
const awkward = `p@ss:w/o%r?d#1`

// TestPasswordOfTheDatabaseIsShownNowhere starts servers whose database is not
// there, or whose URL is no URL, and reads all they write and answer.
func TestPasswordOfTheDatabaseIsShownNowhere(t *testing.T) {
	t.Parallel()
	escaped := url.QueryEscape(awkward)
	for name, dsn := range map[string]string{
		"in the user part": "postgres://stint:" + escaped + "@127.0.0.1:1/stint",
		"as a parameter":   "postgres://stint@127.0.0.1:1/stint?password=" + escaped,
		"a bad port":       "postgres://stint:" + escaped + "@127.0.0.1:port/stint",
		"unescaped":        "postgres://stint:" + awkward + "@127.0.0.1:1/stint",
		"half escaped":     "postgres://stint:" + escaped + "%zz@127.0.0.1:1/stint",
		"another scheme":   "mysql://stint:" + escaped + "@127.0.0.1:1/stint",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProcess(t, "")
			p.env = []string{"STINT_DB=" + dsn}
			p.launch()
			seen := p.answersOrEnd()
			p.kill9()
			seen += p.log.String()
			if len(p.log.String()) == 0 {
				t.Error("the server says nothing")
			}
			for _, secret := range []string{awkward, escaped, url.PathEscape(awkward), base64.StdEncoding.EncodeToString([]byte(awkward)), "p@ss", "p%40ss", "w/o", "r?d#1"} {
				if strings.Contains(seen, secret) {
					t.Errorf("%q is shown in\n%s", secret, seen)
				}
			}
		})
	}
}

// answersOrEnd is what a server answers whose database is away; nothing if it
// ends instead.
func (p *process) answersOrEnd() (seen string) {
	p.t.Helper()
	_, ended := p.present()
	apitest.Await(p.t, "an answer or an end", func() bool {
		select {
		case <-ended:
			return true
		default:
		}
		if p.URL() == "http://127.0.0.1:1" || !strings.Contains(p.log.String(), "not ready yet") {
			return false
		}
		for _, path := range []string{"/readyz?verbose", "/v1/jobs"} {
			seen += p.Get(path).String()
		}
		return true
	})
	return seen
}

// TestTokensAreShownNowhere: every test searches its server's log for the forms
// of tokens; this one sends what looks like none and is one all the same.
func TestTokensAreShownNowhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		good := s.Token
		sent := []string{good, good[:20], good + "x", strings.Repeat("s3cr3t", 3), "stint_" + strings.Repeat("Z", 33)}
		for _, token := range sent {
			s.As(token).Get("/v1/jobs")
			s.As("").Get("/v1/jobs", "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("u:"+token)))
			s.As("").Get("/v1/jobs?token="+token, "X-Api-Key", token, "Cookie", "token="+token)
			s.As("").Get("/v1/" + token)
			s.Get("/v1/jobs/" + token)
			s.Post("/v1/jobs/x/complete", `{"lease_token":"`+token+`"}`, "Idempotency-Key", "k-"+token)
			s.Post("/v1/jobs/claim", `{"worker":7,"kinds":["`+token+`"],"`+token+`":1}`)
		}
		j := claimed(s.Client)
		s.Post(j.path("complete"), `{"lease_token":"`+j.token+`","nothing":1}`)
		s.Post("/v1/jobs/x/complete", j.with(""))
		log := s.Log.String()
		for _, secret := range append(sent, j.token, base64.StdEncoding.EncodeToString([]byte("u:"+good))) {
			if strings.Contains(log, secret) || strings.Contains(log, url.QueryEscape(secret)) {
				t.Errorf("%q is in the log", secret)
			}
		}
		if a := s.Get("/v1/jobs/" + j.id); strings.Contains(a.String(), j.token) {
			t.Errorf("a read shows the lease token: %s", a)
		}
		if a := s.Get("/v1/tokens"); apitest.Secrets.MatchString(a.String()) {
			t.Errorf("a list shows a token: %s", a)
		}
		owned, args := ownedBy(s.Owner)
		for _, row := range s.db.query("select * from tokens where "+owned, args...) {
			for _, v := range row {
				if text, _ := v.(string); strings.Contains(text, good) {
					t.Error("the database holds the token's text")
				}
			}
		}
	})
}

// TestOnlyOneWellFormedTokenLetsIn: nothing empty, doubled or padded does.
func TestOnlyOneWellFormedTokenLetsIn(t *testing.T) {
	t.Parallel()
	s := shared(t, store.SQLite)
	ask := func(headers ...string) int {
		var b strings.Builder
		for _, h := range headers {
			b.WriteString("Authorization: " + h + "\r\n")
		}
		got := raw(t, s.Client, "GET /v1/whoami HTTP/1.1\r\nHost: stint\r\nConnection: close\r\n"+b.String()+"\r\n")
		var status int
		if _, err := fmt.Sscanf(got, "HTTP/1.1 %d", &status); err != nil {
			t.Errorf("%q: %v", headers, got)
		}
		return status
	}
	good := s.Token
	if ask("Bearer "+good) != 200 || ask("bearer "+good) != 200 {
		t.Error("the token is refused")
	}
	for name, headers := range map[string][]string{
		"none": nil, "empty": {""}, "scheme alone": {"Bearer"}, "a space": {"Bearer "}, "two spaces": {"Bearer  " + good},
		"two": {"Bearer " + good, "Bearer " + good}, "good and bad": {"Bearer " + good, "Bearer x"}, "listed": {"Bearer " + good + ", Bearer " + good},
		"NUL": {"Bearer " + good + "\x00"}, "more": {"Bearer " + good + "x"}, "less": {"Bearer " + good[:len(good)-1]},
		"another case": {"Bearer " + strings.ToUpper(good)}, "quoted": {`Bearer "` + good + `"`}, "basic": {"Basic " + good}, "bare": {good},
		"long": {"Bearer " + strings.Repeat("a", 10_000)}, "tab": {"Bearer\t" + good},
	} {
		if status := ask(headers...); status != 401 && status != 400 {
			t.Errorf("%s: %d", name, status)
		}
	}
	a := s.Must(201, "/v1/tokens", `{"name":"short","scopes":["jobs:read"]}`)
	short := s.As(a.Str("secret"))
	if a := short.Get("/v1/jobs"); a.Status != 200 {
		t.Errorf("a new token: %s", a)
	}
	s.Must(200, "/v1/tokens/"+a.Str("token.id")+"/revoke", "")
	apitest.Within(t, "the revoked token is refused", 6*time.Second, func() bool { return short.Get("/v1/jobs").Status == 401 })
}

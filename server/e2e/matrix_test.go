package e2e

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

func TestEveryRouteNeedsATokenWithItsScope(t *testing.T) {
	t.Parallel()
	s := shared(t, store.SQLite)
	eachRoute(t, s, func(t *testing.T, o operation, c *apitest.Client, owner string) {
		to := rows[o.id](c)
		bad := to
		bad.body, bad.query = `{"no`, "?no=1"
		for name, token := range map[string]string{"none": "", "unknown": "stint_" + strings.Repeat("0", 33)} {
			for _, req := range []target{to, bad} {
				a := o.send(c.As(token), req)
				if a.Status != http.StatusUnauthorized || a.Str("code") != "unauthorized" || a.Header.Get("Www-Authenticate") == "" {
					t.Errorf("token %s: %s", name, a)
				}
			}
		}
		if o.scope == "" {
			return
		}
		others := slices.DeleteFunc(slices.Clone(web.Scopes), func(s string) bool { return s == o.scope || s == web.ScopeAdmin })
		for _, req := range []target{to, bad} {
			a := o.send(c.As(apitest.Token(t, s.Store, owner, others...)), req)
			if a.Status != http.StatusForbidden || a.Str("required_scope") != o.scope {
				t.Errorf("every other scope: %s", a)
			}
		}
		succeeds(t, o, o.send(c.As(apitest.Token(t, s.Store, owner, o.scope)), to))
	})
}

// TestEachScopeAloneOpensItsRoutesOnly tries every scope, alone, on every route.
func TestEachScopeAloneOpensItsRoutesOnly(t *testing.T) {
	t.Parallel()
	s := shared(t, store.SQLite)
	tokens := map[string]string{}
	for _, scope := range web.Scopes {
		tokens[scope] = apitest.Token(t, s.Store, s.Owner, scope)
	}
	eachRoute(t, s, func(t *testing.T, o operation, _ *apitest.Client, _ string) {
		for scope, token := range tokens {
			if scope == web.ScopeAdmin || scope == o.scope {
				continue // TestEveryRouteNeedsATokenWithItsScope
			}
			a := o.send(s.As(token), target{param: "x", also: "x"})
			switch {
			case o.scope == "" && a.Status != http.StatusOK:
				t.Errorf("%s on a route for any token: %s", scope, a)
			case o.scope != "" && (a.Status != http.StatusForbidden || a.Str("code") != "forbidden" || a.Str("required_scope") != o.scope):
				t.Errorf("%s: %s", scope, a)
			}
		}
	})
}

// Ids of nobody, in the two forms an unknown id can have.
var nobodys = []string{"job_01900000-0000-7000-8000-000000000000", "x"}

// TestForeignIDAnswersAsAnUnknownOneDoes compares what a stranger gets for an
// id of somebody else's with what an id of nobody's gets: the same bytes, after
// the same number of statements. The row stays as it was.
func TestForeignIDAnswersAsAnUnknownOneDoes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		eachRoute(t, s, func(t *testing.T, o operation, c *apitest.Client, owner string) {
			to := rows[o.id](c)
			if to.param == "" {
				return
			}
			another := apitest.Unique("owner")
			stranger := c.As(apitest.Token(t, s.Store, another, "admin"))
			before := everything(s, owner, another)
			foreign := o.send(stranger, to)
			if o.id != "put-kind" && o.id != "put-connector" { // which make the stranger's own
				if foreign.Status != http.StatusNotFound {
					t.Errorf("a foreign id: %s", foreign)
				}
				if after := everything(s, owner, another); after != before {
					t.Errorf("a row changed:\n%s\n%s", before, after)
				}
			}
			for _, id := range nobodys {
				unknown := to
				unknown.param = id
				if got, want := bare(o.send(stranger, unknown), id), bare(foreign, to.param); got != want {
					t.Errorf("unknown %s\n%s\nforeign %s\n%s", id, got, to.param, want)
				}
			}
			succeeds(t, o, o.send(c, to))
		})
	})
}

var (
	duration = regexp.MustCompile(`dur=[0-9.]+`)
	anID     = regexp.MustCompile(`"request_id":"[^"]+"`)
)

// bare is all of an answer that may not differ, id aside.
func bare(a apitest.Answer, id string) string {
	var b bytes.Buffer
	h := a.Header.Clone()
	for _, name := range []string{"Date", "X-Request-Id", "Content-Length"} {
		h.Del(name)
	}
	h.Set("Server-Timing", duration.ReplaceAllString(h.Get("Server-Timing"), ""))
	_ = h.Write(&b) // a buffer takes everything
	body := anID.ReplaceAll(a.Body, []byte(`"request_id":""`))
	body = times.ReplaceAll(body, []byte(`""`))
	return b.String() + strings.ReplaceAll(string(body), `"`+id+`"`, `"id"`)
}

// everything is each row of some owners, as text, but for what every request may
// write.
func everything(s *inProcess, owners ...string) string {
	var all []string
	owned, args := ownedBy(owners...)
	for _, table := range []string{"jobs", "runs", "job_kinds", "repos", "proposals", "proposal_transitions", "login_links", "connectors", "connections", "connection_tombstones"} {
		all = append(all, s.db.dump(table, owned, args...))
	}
	all = append(all, s.db.dump("tokens", "revoked_at is not null and "+owned, args...))
	return strings.Join(all, "\n")
}

// everybodys are the lists that belong to the instance, not to an owner.
var everybodys = map[string]bool{"list-leases": true}

// TestNoListShowsAForeignRow: none of the ids and names in an owner's list are
// in the list that a stranger gets. A list below an id is TestForeignID…'s.
func TestNoListShowsAForeignRow(t *testing.T) {
	t.Parallel()
	marks := regexp.MustCompile(uuids.String() + "|" + links.String() + "|" + counted.String())
	each(t, func(t *testing.T, s *inProcess) {
		eachRoute(t, s, func(t *testing.T, o operation, c *apitest.Client, owner string) {
			if !strings.HasPrefix(o.id, "list-") || everybodys[o.id] || strings.Contains(o.path, "{") {
				return
			}
			rows[o.id](c)
			kind(c)
			connector(c, apitest.Unique("owner"))
			// A server writes this once a minute.
			s.db.exec("insert into workers (owner_id, name, first_seen_at, last_seen_at) select id, $2, created_at, created_at from owners where name = $1",
				owner, apitest.Unique("owner"))
			own := o.send(c, target{query: "?limit=100"})
			stranger := o.send(c.As(apitest.Token(t, s.Store, apitest.Unique("owner"), "admin")), target{query: "?limit=100"})
			succeeds(t, o, stranger)
			found := marks.FindAllString(own.String(), -1)
			if len(found) == 0 {
				t.Errorf("the owner's list has nothing to look for: %s", own)
			}
			for _, mark := range found {
				if strings.Contains(stranger.String(), mark) {
					t.Errorf("%s is shown to a stranger: %s", mark, stranger)
				}
			}
		})
	})
}

func TestForeignRowsAreInNoList(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		j := claimed(s.Client)
		repo := s.Must(201, "/v1/jobs", `{"kind":"review","key":"k","repo":{"forge":"github","namespace":"a","name":"b"}}`).Str("job.repo_id")
		stranger := s.As(apitest.Token(t, s.Store, apitest.Unique("owner"), "admin"))
		for _, path := range []string{"/v1/jobs", "/v1/jobs?key=k", "/v1/jobs?repo_id=" + repo, "/v1/runs", "/v1/runs?job_id=" + j.id, "/v1/repos", "/v1/repos?namespace=a&name=b"} {
			if a := stranger.Get(path); a.Status != 200 || a.Len("data") != 0 {
				t.Errorf("%s shows a stranger %s", path, a)
			}
			if a := s.Get(path); a.Len("data") == 0 {
				t.Errorf("%s shows the owner %s", path, a)
			}
		}
		a := stranger.Must(200, "/v1/jobs/complete", `{"items":[{"id":"`+j.id+`","lease_token":"`+j.token+`"},{"id":"`+nobodys[0]+`","lease_token":"x"}]}`)
		foreign, unknown := a.At("results.0.problem"), a.At("results.1.problem")
		if a.At("results.0.status") != a.At("results.1.status") || foreign.(map[string]any)["detail"] != unknown.(map[string]any)["detail"] {
			t.Errorf("a batch tells a foreign job from an unknown one: %s", a)
		}
		if a := stranger.Must(201, "/v1/jobs", `{"kind":"review","key":"k"}`); a.Str("job.state") != "pending" {
			t.Errorf("a foreign key counts: %s", a)
		}
		if a := stranger.Must(200, "/v1/jobs/claim", `{"worker":"w","kinds":["review"],"limit":9}`); a.Len("jobs") != 1 {
			t.Errorf("a stranger claims %s", a)
		}
	})
}

func TestEveryWriteUnderAKeyIsReplayed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		eachRoute(t, s, func(t *testing.T, o operation, c *apitest.Client, owner string) {
			if !o.mutates {
				return
			}
			to := rows[o.id](c)
			to.headers = append(to.headers, "Idempotency-Key", "k 1")
			if a := o.send(c, to); a.Status != http.StatusBadRequest {
				t.Errorf("a key with a space: %s", a)
			}
			to.headers[len(to.headers)-1] = "k-1"
			first := o.send(c, to)
			if o.noKey {
				if first.Status != http.StatusBadRequest || first.Str("code") != "idempotency_unsupported" {
					t.Errorf("a route that keeps no answer: %s", first)
				}
				return
			}
			succeeds(t, o, first)
			again := o.send(c, to)
			if again.Status != first.Status || !bytes.Equal(again.Body, first.Body) || again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("first %s\nagain %s\n%v", first, again, again.Header)
			}
			if first.Header.Get("Idempotent-Replayed") != "" {
				t.Error("the first answer says that it is a replay")
			}
			if other := to; to.body != "" {
				other.body = strings.Replace(to.body, "{", "{ ", 1)
				if a := o.send(c, other); a.Status != 422 || a.Str("code") != "idempotency_key_reused" {
					t.Errorf("another body under the key: %s", a)
				}
			}
			stranger := c.As(apitest.Token(t, s.Store, apitest.Unique("owner"), "admin"))
			if a := o.send(stranger, to); a.Header.Get("Idempotent-Replayed") != "" {
				t.Errorf("a stranger gets the kept answer: %s", a)
			}
		})
	})
}

// On PostgreSQL, where a NUL that reached the database would be a 500.
func TestEveryRouteRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := shared(t, store.Postgres)
	eachRoute(t, s, func(t *testing.T, o operation, c *apitest.Client, owner string) {
		to := rows[o.id](c)
		refuses := func(what string, status int, change func(*target)) {
			t.Helper()
			bad := to
			change(&bad)
			a := o.send(c, bad)
			if a.Status != status || status == 422 && a.Len("errors") == 0 {
				t.Errorf("%s: want %d, got %s", what, status, a)
			}
		}
		refuses("an unknown parameter", 400, func(to *target) { to.query = "?nothing=1" })
		refuses("a doubled parameter", 400, func(to *target) { to.query = "?limit=1&limit=1" })
		if o.hasBody {
			refuses("an unknown member", 422, func(to *target) { to.body = `{"nothing":1,` + to.body[1:] })
			refuses("a member in another case", 422, func(to *target) {
				to.body = regexp.MustCompile(`^\{"([a-z])`).ReplaceAllStringFunc(to.body, strings.ToUpper)
			})
			refuses("an array", 422, func(to *target) { to.body = `[]` })
			refuses("null", 422, func(to *target) { to.body = `null` })
			refuses("trailing text", 400, func(to *target) { to.body += `x` })
			refuses("no body", 400, func(to *target) { to.body = "" })
			refuses("another type", 415, func(to *target) { to.headers = append(to.headers, "Content-Type", "text/plain") })
			refuses("faults in query and body", 400, func(to *target) { to.query, to.body = "?nothing=1", `{"nothing":1}` })
		} else if o.mutates && !o.lines {
			refuses("a body it has no use for", 422, func(to *target) { to.body = `{"nothing":1}` })
		}
		if strings.HasPrefix(o.id, "list-") {
			for _, limit := range []string{"0", "-1", "201", "9223372036854775808", "abc", ""} {
				refuses("limit="+limit, 400, func(to *target) { to.query = "?limit=" + limit })
			}
			for _, cursor := range []string{"", "AAAA", "%00", "%ff", "e30", strings.Repeat("A", 4000), "ARK769qsokays71gCteiC14ABmFtjEpScGRpc2NvdmVy"} {
				refuses("cursor "+cursor, 400, func(to *target) { to.query = "?cursor=" + cursor })
			}
			refuses("sort", 400, func(to *target) { to.query = "?sort=created_at;select%20pg_sleep(5)--" })
			refuses("order", 400, func(to *target) { to.query = "?order=desc%20nulls%20first" })
		}
		if to.param != "" {
			refuses("NUL in the path", 404, func(to *target) { to.param = "a%00b" })
			refuses("a slash in the path", 404, func(to *target) { to.param += "%2F" })
		}
		succeeds(t, o, o.send(c, to)) // what was refused changed nothing
	})
}

func TestOtherMethodsAreRefusedByName(t *testing.T) {
	t.Parallel()
	s := shared(t, store.SQLite)
	all := operations(t, s.Client)
	for _, o := range all {
		path, other := pathParam.ReplaceAllLiteralString(o.path, "x"), http.MethodDelete
		if slices.ContainsFunc(all, func(d operation) bool { return d.path == o.path && d.method == http.MethodDelete }) {
			other = http.MethodPut // no address takes both
		}
		a := s.Call(other, path, "")
		if a.Status != http.StatusMethodNotAllowed || !strings.Contains(a.Header.Get("Allow"), o.method) {
			t.Errorf("%s %s: %s, Allow %q", other, path, a, a.Header.Get("Allow"))
		}
	}
}

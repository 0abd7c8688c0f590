package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
)

func TestFiftyProposalsOfOneHeadMakeOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		repo := tracked(s.Client)
		var statuses, ids tally
		together(50, func(i int) {
			a := s.Post("/v1/repos/"+repo+"/proposals", fmt.Sprintf(`{"stream":"main","head":"h","title":"t %d"}`, i))
			statuses.add(fmt.Sprint(a.Status, a.At("deduplicated")))
			ids.add(a.Str("proposal.id"))
		})
		if len(ids.n) != 1 || statuses.n["201 false"] != 1 || statuses.n["200 true"] != 49 {
			t.Errorf("50 proposals: %v, ids %v", statuses.n, ids.n)
		}
	})
}

func TestMergeAndCloseOfOneVersionAreOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		for range 5 {
			id := proposed(s.Client, tracked(s.Client), apitest.Unique("head"))
			var statuses tally
			together(8, func(i int) {
				a := s.Post("/v1/proposals/"+id+"/"+[]string{"merge", "close"}[i%2], "", "If-Match", `"v1"`)
				statuses.add(fmt.Sprint(a.Status, " ", a.Str("code")))
			})
			if statuses.n["200 "] != 1 || statuses.n["412 precondition_failed"] != 7 {
				t.Errorf("eight at once: %v", statuses.n)
			}
		}
	})
}

// The tag of a proposal is that of its version, and of the run that is shown
// with it; If-Match takes what GET gave.
func TestProposalsETagFollowsWhatIsShown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		j, repo := claimed(s.Client), tracked(s.Client)
		id := s.Must(201, "/v1/repos/"+repo+"/proposals", `{"stream":"main","head":"h","title":"t","run_id":"`+j.run+`"}`).Str("proposal.id")
		path := "/v1/proposals/" + id
		first := s.Get(path).Header.Get("ETag")
		if a := s.Get(path, "If-None-Match", first); a.Status != http.StatusNotModified || len(a.Body) != 0 {
			t.Errorf("unchanged: %s", a)
		}
		s.Must(200, j.path("complete"), j.with(""))
		a := s.Get(path, "If-None-Match", first)
		if a.Status != 200 || a.Str("run.status") != "succeeded" || a.Str("run.job_state") != "succeeded" {
			t.Errorf("the run ended: %s", a)
		}
		move := func(action string, status int, headers ...string) apitest.Answer {
			t.Helper()
			a := s.Post(path+"/"+action, "", headers...)
			if a.Status != status {
				t.Errorf("%s %v: want %d, got %s", action, headers, status, a)
			}
			return a
		}
		move("close", 428)
		move("close", 412, "If-Match", `"v2"`)
		move("close", 412, "If-Match", `W/"v1"`)
		move("close", 412, "If-Match", `"v10-`+first[4:])
		closed := move("close", 200, "If-Match", first) // the version did not change with the run
		if tag := closed.Header.Get("ETag"); tag != `"v2"` {
			t.Errorf("the answer's tag is %s", tag)
		}
		move("close", 412, "If-Match", first)
		if a := move("close", 409, "If-Match", "*"); a.Str("code") != "state_conflict" || a.Str("proposal_id") != id || a.Str("state") != "closed" {
			t.Errorf("closed twice: %s", a)
		}
		open := proposed(s.Client, repo, "h")
		if a := move("reopen", 409, "If-Match", `"v2"`); a.Str("code") != "key_in_use" || a.Str("proposal_id") != open || a.Str("state") != "open" {
			t.Errorf("reopened beside %s: %s", open, a)
		}
	})
}

// CUR-06: a cursor is of one list and filter; its limit may change.
func TestProposalCursorBelongsToItsFilter(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		repo := tracked(s.Client)
		other := s.Must(201, "/v1/repos", `{"forge":"github","namespace":"Acme","name":"Other"}`).Str("repo.id")
		for i := range 4 {
			proposed(s.Client, repo, fmt.Sprint("h", i))
		}
		list := "/v1/repos/" + repo + "/proposals"
		cursor := s.Get(list + "?limit=1&state=open").Str("next_cursor")
		if a := s.Get(list + "?limit=3&state=open&cursor=" + cursor); a.Status != 200 || a.Len("data") != 3 {
			t.Errorf("another limit: %s", a)
		}
		for _, path := range []string{
			list + "?", list + "?state=closed&", list + "?state=open&stream=main&", list + "?state=open&author=ada&",
			"/v1/repos/" + other + "/proposals?state=open&", "/v1/repos?",
		} {
			if a := s.Get(path + "cursor=" + cursor); a.Status != 400 || a.Str("code") != "invalid_cursor" {
				t.Errorf("%s takes the cursor: %s", path, a)
			}
		}
	})
}

// NAM-01: one repository, found in any case, in the spelling that came first.
func TestRepositoryIsFoundInAnyCase(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		id := s.Must(201, "/v1/repos", `{"forge":"gitea","host":"git.example","namespace":"Acme/Sub","name":"Repo"}`).Str("repo.id")
		s.Must(201, "/v1/repos", `{"forge":"gitea","host":"git.example","namespace":"Acme","name":"Sub"}`)
		again := s.Must(200, "/v1/repos", `{"forge":"gitea","host":"GIT.example","namespace":"acme/sub","name":"REPO","default_stream":"main"}`)
		if again.Str("repo.id") != id || again.Str("repo.name") != "Repo" || again.At("deduplicated") != true || again.Str("repo.default_stream") != "main" {
			t.Errorf("tracked again: %s", again)
		}
		job := s.Must(201, "/v1/jobs", `{"kind":"review","repo":{"forge":"gitea","host":"git.example","namespace":"ACME/sub","name":"repo"},"issue_number":1}`)
		if job.Str("job.repo_id") != id {
			t.Errorf("an enqueue tracks another: %s", job)
		}
		for query, found := range map[string]int{
			"namespace=acme/SUB&name=repo": 1, "namespace=acme/sub&name=REPO&forge=gitea&host=Git.Example": 1, "name=rEPO": 1, "host=GIT.EXAMPLE": 2,
			"namespace=acme": 1, "forge=gitea": 2, "forge=github": 0, "namespace=acme/sub&name=repo&host=other": 0, "namespace=acme&name=sub/repo": -1,
			"name=re%20po": -1, "name=%E2%80%8Brepo": -1, "namespace=acme%20": -1,
		} {
			a := s.Get("/v1/repos?" + query)
			if found < 0 && a.Status != 400 || found >= 0 && (a.Status != 200 || a.Len("data") != found) {
				t.Errorf("%s: %s", query, a)
			}
		}
	})
}

// NAM-03, and what a console must never link.
func TestProposalsTextsKeepTheirBounds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		path := "/v1/repos/" + tracked(s.Client) + "/proposals"
		body := func(member, value string) string {
			members := map[string]string{"stream": "main", "head": apitest.Unique("head"), "title": "t"}
			members[member] = value
			var all []string
			for name, text := range members {
				all = append(all, fmt.Sprintf("%q:%q", name, text))
			}
			return "{" + strings.Join(all, ",") + "}"
		}
		for member, values := range map[string][]string{
			"url": {"javascript:alert(1)", "JavaScript:alert(1)", "java\tscript:x", " http://a", "//a.example", "/a", "http:///a", "https://", "data:text/html,x",
				"ftp://a", "http://a b", "https://a/\u202e", "https://a.example/" + strings.Repeat("x", 240), "h ttp://a",
				"http://:80", "https://forge.example@evil.example/"},
			"stream": {"", " main", "main ", "ma\u200bin", "ma\tin", "a\u00a0b", strings.Repeat("s", 256)},
			"head":   {"", "a\n", strings.Repeat("é", 128)},
			"base":   {"", "\u202ex"},
			"author": {"", "ada\u200b", strings.Repeat("a", 256)},
			"title":  {"", " ", strings.Repeat("t", 513)},
			"body":   {strings.Repeat("b", 65537), strings.Repeat("é", 32769)},
			"run_id": {"", strings.Repeat("r", 256)},
		} {
			for _, value := range values {
				a := s.Post(path, body(member, value))
				if a.Status != 422 || a.Len("errors") != 1 || a.Str("errors.0.pointer") != "/"+member {
					t.Errorf("%s %.40q: %s", member, value, a)
				}
			}
		}
		for member, values := range map[string][]string{
			"url":    {"http://a.example/x?y=javascript:1#z", "https://[::1]:8/é", "HTTPS://A.example"},
			"stream": {"release 1.2", "é", strings.Repeat("s", 255)}, "title": {strings.Repeat("é", 512)}, "author": {"Ada Lovelace"},
			"body": {"", strings.Repeat("b", 65536), "line\nline\t"},
		} {
			for _, value := range values {
				if a := s.Post(path, body(member, value)); a.Status != 201 || a.Str("proposal."+member) != value {
					t.Errorf("%s %.40q: %.300s", member, value, a)
				}
			}
		}
	})
}

// A list shows no long body; the proposal has it.
func TestListLeavesOutLongBodies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		path := "/v1/repos/" + tracked(s.Client) + "/proposals"
		s.Must(201, path, `{"stream":"main","head":"a","title":"t","body":"`+strings.Repeat("x", 4096)+`"}`)
		long := s.Must(201, path, `{"stream":"main","head":"b","title":"t","body":"`+strings.Repeat("x", 4097)+`"}`).Str("proposal.id")
		a := s.Get(path)
		if a.At("data.0.body") != nil || a.Str("data.0.omitted.0") != "body" || len(a.Str("data.1.body")) != 4096 || a.Len("data.1.omitted") != 0 {
			t.Errorf("listed: %s", a)
		}
		if a := s.Get("/v1/proposals/" + long); len(a.Str("body")) != 4097 || a.Len("omitted") != 0 {
			t.Errorf("got: %s", a)
		}
	})
}

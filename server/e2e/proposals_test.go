package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestFiftyProposalsOfOneHeadMakeOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		repo := tracked(s.client)
		var statuses, ids tally
		together(50, func(i int) {
			a := s.patient("/v1/repos/"+repo+"/proposals", fmt.Sprintf(`{"stream":"main","head":"h","title":"t %d"}`, i))
			statuses.add(fmt.Sprint(a.Status, a.at("deduplicated")))
			ids.add(a.str("proposal.id"))
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
			id := proposed(s.client, tracked(s.client), unique("head"))
			var statuses tally
			together(8, func(i int) {
				a := s.patient("/v1/proposals/"+id+"/"+[]string{"merge", "close"}[i%2], "", "If-Match", `"v1"`)
				statuses.add(fmt.Sprint(a.Status, " ", a.str("code")))
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
		j, repo := claimed(s.client), tracked(s.client)
		id := s.must(201, "/v1/repos/"+repo+"/proposals", `{"stream":"main","head":"h","title":"t","run_id":"`+j.run+`"}`).str("proposal.id")
		path := "/v1/proposals/" + id
		first := s.get(path).Header.Get("ETag")
		if a := s.get(path, "If-None-Match", first); a.Status != http.StatusNotModified || len(a.Body) != 0 {
			t.Errorf("unchanged: %s", a)
		}
		s.must(200, j.path("complete"), j.with(""))
		a := s.get(path, "If-None-Match", first)
		if a.Status != 200 || a.str("run.status") != "succeeded" || a.str("run.job_state") != "succeeded" {
			t.Errorf("the run ended: %s", a)
		}
		move := func(action string, status int, headers ...string) answer {
			t.Helper()
			a := s.post(path+"/"+action, "", headers...)
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
		if a := move("close", 409, "If-Match", "*"); a.str("code") != "state_conflict" || a.str("proposal_id") != id || a.str("state") != "closed" {
			t.Errorf("closed twice: %s", a)
		}
		open := proposed(s.client, repo, "h")
		if a := move("reopen", 409, "If-Match", `"v2"`); a.str("code") != "key_in_use" || a.str("proposal_id") != open || a.str("state") != "open" {
			t.Errorf("reopened beside %s: %s", open, a)
		}
	})
}

// CUR-06: a cursor is of one list and filter; its limit may change.
func TestProposalCursorBelongsToItsFilter(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		repo := tracked(s.client)
		other := s.must(201, "/v1/repos", `{"forge":"github","namespace":"Acme","name":"Other"}`).str("repo.id")
		for i := range 4 {
			proposed(s.client, repo, fmt.Sprint("h", i))
		}
		list := "/v1/repos/" + repo + "/proposals"
		cursor := s.get(list + "?limit=1&state=open").str("next_cursor")
		if a := s.get(list + "?limit=3&state=open&cursor=" + cursor); a.Status != 200 || a.len("data") != 3 {
			t.Errorf("another limit: %s", a)
		}
		for _, path := range []string{
			list + "?", list + "?state=closed&", list + "?state=open&stream=main&", list + "?state=open&author=ada&",
			"/v1/repos/" + other + "/proposals?state=open&", "/v1/repos?",
		} {
			if a := s.get(path + "cursor=" + cursor); a.Status != 400 || a.str("code") != "invalid_cursor" {
				t.Errorf("%s takes the cursor: %s", path, a)
			}
		}
	})
}

// NAM-01: one repository, found in any case, in the spelling that came first.
func TestRepositoryIsFoundInAnyCase(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		id := s.must(201, "/v1/repos", `{"forge":"gitea","host":"git.example","namespace":"Acme/Sub","name":"Repo"}`).str("repo.id")
		s.must(201, "/v1/repos", `{"forge":"gitea","host":"git.example","namespace":"Acme","name":"Sub"}`)
		again := s.must(200, "/v1/repos", `{"forge":"gitea","host":"GIT.example","namespace":"acme/sub","name":"REPO","default_stream":"main"}`)
		if again.str("repo.id") != id || again.str("repo.name") != "Repo" || again.at("deduplicated") != true || again.str("repo.default_stream") != "main" {
			t.Errorf("tracked again: %s", again)
		}
		job := s.must(201, "/v1/jobs", `{"kind":"review","repo":{"forge":"gitea","host":"git.example","namespace":"ACME/sub","name":"repo"},"issue_number":1}`)
		if job.str("job.repo_id") != id {
			t.Errorf("an enqueue tracks another: %s", job)
		}
		for query, found := range map[string]int{
			"namespace=acme/SUB&name=repo": 1, "namespace=acme/sub&name=REPO&forge=gitea&host=Git.Example": 1, "name=rEPO": 1, "host=GIT.EXAMPLE": 2,
			"namespace=acme": 1, "forge=gitea": 2, "forge=github": 0, "namespace=acme/sub&name=repo&host=other": 0, "namespace=acme&name=sub/repo": -1,
			"name=re%20po": -1, "name=%E2%80%8Brepo": -1, "namespace=acme%20": -1,
		} {
			a := s.get("/v1/repos?" + query)
			if found < 0 && a.Status != 400 || found >= 0 && (a.Status != 200 || a.len("data") != found) {
				t.Errorf("%s: %s", query, a)
			}
		}
	})
}

// NAM-03, and what a console must never link.
func TestProposalsTextsKeepTheirBounds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *inProcess) {
		path := "/v1/repos/" + tracked(s.client) + "/proposals"
		body := func(member, value string) string {
			members := map[string]string{"stream": "main", "head": unique("head"), "title": "t"}
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
			"title":  {"", strings.Repeat("t", 513)},
			"body":   {strings.Repeat("b", 65537), strings.Repeat("é", 32769)},
			"run_id": {"", strings.Repeat("r", 256)},
		} {
			for _, value := range values {
				a := s.post(path, body(member, value))
				if a.Status != 422 || a.len("errors") != 1 || a.str("errors.0.pointer") != "/"+member {
					t.Errorf("%s %.40q: %s", member, value, a)
				}
			}
		}
		for member, values := range map[string][]string{
			"url":    {"http://a.example/x?y=javascript:1#z", "https://[::1]:8/é", "HTTPS://A.example"},
			"stream": {"release 1.2", "é", strings.Repeat("s", 255)}, "title": {strings.Repeat("é", 512), " "}, "author": {"Ada Lovelace"},
			"body": {"", strings.Repeat("b", 65536), "line\nline\t"},
		} {
			for _, value := range values {
				if a := s.post(path, body(member, value)); a.Status != 201 || a.str("proposal."+member) != value {
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
		path := "/v1/repos/" + tracked(s.client) + "/proposals"
		s.must(201, path, `{"stream":"main","head":"a","title":"t","body":"`+strings.Repeat("x", 4096)+`"}`)
		long := s.must(201, path, `{"stream":"main","head":"b","title":"t","body":"`+strings.Repeat("x", 4097)+`"}`).str("proposal.id")
		a := s.get(path)
		if a.at("data.0.body") != nil || a.str("data.0.omitted.0") != "body" || len(a.str("data.1.body")) != 4096 || a.len("data.1.omitted") != 0 {
			t.Errorf("listed: %s", a)
		}
		if a := s.get("/v1/proposals/" + long); len(a.str("body")) != 4097 || a.len("omitted") != 0 {
			t.Errorf("got: %s", a)
		}
	})
}

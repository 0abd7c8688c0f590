package server_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// api calls a server of this process, without a connection, as an admin.
type api struct{ *apitest.Client }

func newAPI(t *testing.T, s *store.Store) *api {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	return newAPIOn(t, s, server.New(server.Config{Version: "test", Log: log}, s, make([]byte, 32)).Handler())
}

func newAPIOn(t *testing.T, s *store.Store, handler http.Handler) *api {
	t.Helper()
	return &api{apitest.HandlerClient(t, handler, apitest.Token(t, s, apitest.Unique("ada"), "admin"))}
}

// call is one request; into, if not nil, gets the answer. It returns how many
// statements the request ran, as Server-Timing tells.
func (a *api) call(method, path string, body, into any) (statements int) {
	a.T.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			a.T.Fatal(err)
		}
	}
	got := a.Call(method, path, string(text))
	if got.Status >= 300 {
		a.T.Fatalf("%s %s: %s", method, path, got)
	}
	if into != nil {
		got.Into(a.T, into)
	}
	timing := got.Header.Get("Server-Timing")
	var ms float64
	if _, err := fmt.Sscanf(timing, `db;dur=%f;desc="%d statements"`, &ms, &statements); err != nil {
		a.T.Fatalf("Server-Timing %q: %v", timing, err)
	}
	return statements
}

type object = map[string]any

func TestRequestsKeepWithinTheirStatements(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		a.call("GET", "/v1/whoami", nil, nil) // the token is cached from here on
		within := func(most int, method, path string, body, into any) {
			t.Helper()
			if n := a.call(method, path, body, into); n < 1 || n > most {
				t.Errorf("%s %s ran %d statements, the budget is %d", method, path, n, most)
			}
		}
		for i := range 3 {
			a.call("POST", "/v1/jobs", object{"kind": "review", "key": fmt.Sprint("k", i)}, nil)
		}
		var claimed struct {
			Jobs []struct {
				ID         string `json:"id"`
				LeaseToken string `json:"lease_token"`
				RunID      string `json:"run_id"`
			} `json:"jobs"`
		}
		within(3, "POST", "/v1/jobs/claim", object{"worker": "w", "kinds": []string{"review", "sync"}, "limit": 2}, &claimed)
		job := claimed.Jobs[0]
		within(1, "POST", "/v1/jobs/"+job.ID+"/heartbeat", object{"lease_token": job.LeaseToken, "progress": 1}, nil)
		within(3, "POST", "/v1/jobs/"+job.ID+"/log", object{"lease_token": job.LeaseToken, "seq": 1, "text": strings.Repeat("x", 64<<10)}, nil)
		within(4, "POST", "/v1/jobs/"+job.ID+"/log", object{"lease_token": job.LeaseToken, "seq": 2, "text": "x"}, nil) // trims
		within(2, "POST", "/v1/jobs/"+job.ID+"/log", object{"lease_token": job.LeaseToken, "seq": 2, "text": "x"}, nil)
		within(3, "GET", "/v1/runs/"+job.RunID+"/log", nil, nil)
		within(2, "GET", "/v1/jobs/"+job.ID, nil, nil)
		within(2, "GET", "/v1/runs/"+job.RunID, nil, nil)
		for _, list := range []string{
			"/v1/jobs", "/v1/jobs?state=claimed", "/v1/jobs?key=k1", "/v1/jobs?kind=review", "/v1/jobs?state=pending&kind=review",
			"/v1/jobs?key=k1&state=claimed&kind=review", "/v1/runs", "/v1/runs?job_id=" + job.ID, "/v1/runs?status=running",
			"/v1/runs?kind=job", "/v1/runs?job_id=" + job.ID + "&status=running&kind=job", "/v1/kinds", "/v1/tokens", "/v1/leases", "/v1/workers", "/v1/overview",
		} {
			within(2, "GET", list, nil, nil)
		}
		within(3, "POST", "/v1/jobs/"+job.ID+"/complete", object{"lease_token": job.LeaseToken}, nil)
		within(4, "POST", "/v1/jobs/"+claimed.Jobs[1].ID+"/fail", object{"lease_token": claimed.Jobs[1].LeaseToken, "error": object{"code": "x", "message": ""}}, nil)
		within(2, "POST", "/v1/jobs", object{"kind": "review"}, nil)
		proposalsWithin(within, job.RunID)
	})
}

// proposalsWithin holds repositories and proposals to their budgets.
func proposalsWithin(within func(most int, method, path string, body, into any), run string) {
	var tracked struct{ Repo struct{ ID string } }
	site := object{"forge": "github", "namespace": "acme", "name": "site"}
	within(3, "POST", "/v1/repos", site, &tracked)
	within(1, "POST", "/v1/repos", site, nil)
	issue := func(number int) object { return object{"kind": "review", "repo": site, "issue_number": number} }
	within(3, "POST", "/v1/jobs", issue(1), nil)
	within(5, "POST", "/v1/jobs", issue(1), nil)
	within(11, "PATCH", "/v1/repos/"+tracked.Repo.ID, object{"name": "web"}, nil)
	within(1, "POST", "/v1/repos", site, nil) // an old name costs no more
	within(3, "POST", "/v1/jobs", issue(2), nil)
	within(2, "GET", "/v1/repos?namespace=acme&name=site", nil, nil)
	within(11, "PATCH", "/v1/repos/"+tracked.Repo.ID, object{"name": "site"}, nil)
	var made struct{ Proposal struct{ ID string } }
	within(4, "POST", "/v1/repos/"+tracked.Repo.ID+"/proposals", object{"stream": "main", "head": "fix", "title": "t", "run_id": run}, &made)
	within(3, "POST", "/v1/repos/"+tracked.Repo.ID+"/proposals", object{"stream": "main", "head": "fix", "title": "t"}, nil)
	within(2, "GET", "/v1/repos/"+tracked.Repo.ID, nil, nil)
	within(2, "GET", "/v1/proposals/"+made.Proposal.ID, nil, nil)
	for _, list := range []string{"", "?namespace=Acme&name=Site", "?forge=github&namespace=acme&name=site", "?name=other"} {
		within(1, "GET", "/v1/repos"+list, nil, nil)
	}
	for _, author := range []string{"", "&author=test", "&author=nobody"} {
		for _, filter := range []string{"", "&state=open", "&stream=main", "&state=open&stream=main", "&state=closed", "&stream=other"} {
			within(2, "GET", "/v1/repos/"+tracked.Repo.ID+"/proposals?limit=1"+author+filter, nil, nil)
		}
	}
}

// Many jobs are completed by a few statements, however many they are.
func TestBatchFinishKeepsWithinItsStatements(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		a := newAPI(t, s)
		a.call("GET", "/v1/whoami", nil, nil) // the token is cached from here on
		for _, n := range []int{1, 100, 1000} {
			items := make([]object, n)
			for i := range items {
				items[i] = object{"kind": "review", "key": fmt.Sprint(n, "-", i)}
			}
			a.call("POST", "/v1/jobs/batch", object{"items": items}, nil)
			var done struct{ Results []struct{ Status int } }
			took := a.call("POST", "/v1/jobs/complete", object{"items": a.claimed(n)}, &done)
			for i, r := range done.Results {
				if r.Status != 200 {
					t.Errorf("item %d of %d: %d", i, n, r.Status)
				}
			}
			if took > 12 || len(done.Results) != n {
				t.Errorf("a batch of %d ran %d statements and had %d answers; the budget is 12", n, took, len(done.Results))
			}
		}
	})
}

// claimed claims n jobs, and returns them as items of a batch that completes them.
func (a *api) claimed(n int) (items []object) {
	a.T.Helper()
	for len(items) < n {
		var got struct {
			Jobs []struct {
				ID         string `json:"id"`
				LeaseToken string `json:"lease_token"`
			} `json:"jobs"`
		}
		a.call("POST", "/v1/jobs/claim", object{"worker": "w", "kinds": []string{"review"}, "limit": min(100, n-len(items))}, &got)
		if len(got.Jobs) == 0 {
			a.T.Fatalf("claimed %d of %d jobs", len(items), n)
		}
		for _, job := range got.Jobs {
			items = append(items, object{"id": job.ID, "lease_token": job.LeaseToken, "result": len(items), "warning": "it was slow"})
		}
	}
	return items
}

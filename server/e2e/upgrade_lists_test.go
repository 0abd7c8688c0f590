package e2e

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestWalksOfListsGoOnAtTheOtherBuild: while two builds serve one database, each
// page of a list comes from the build that did not answer the page before. Only
// with STINT_TEST_BINARY are these two sources, and a changed cursor is seen;
// server/web/testdata/cursors.txt shows one always.
func TestWalksOfListsGoOnAtTheOtherBuild(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)})
	f := newFleet(t, s, 1)
	old, next := f.all[0], f.add(nextBinary)
	next.awaitReady()
	wantAhead(t, old)
	repo := plantLists(old, next)
	for i := range 4 { // a replica writes these two in its own time
		name, at := fmt.Sprint("planted-", i), dbtest.T0.Time
		dbtest.SQL(t, s, "insert into leases (name, holder, term, taken_at, expires_at) values ($1, 'h', 1, $2, $2)", name, at)
		dbtest.SQL(t, s, "insert into workers (owner_id, name, first_seen_at, last_seen_at) select id, cast($1 as text), $2, $2 from owners where name = 'ada'", name, at)
	}
	for _, list := range []string{
		"/v1/jobs?", "/v1/jobs?state=pending&", "/v1/jobs?kind=review&", "/v1/runs?", "/v1/runs?kind=job&status=running&",
		"/v1/repos?", "/v1/repos?namespace=Acme&", "/v1/repos/" + repo + "/proposals?", "/v1/repos/" + repo + "/proposals?author=bot&state=open&",
		"/v1/tokens?", "/v1/kinds?", "/v1/leases?", "/v1/workers?",
	} {
		want := itemsOf(old.Get(list + "limit=200"))
		if len(want) < 4 {
			t.Errorf("%s lists %d items", list, len(want))
		}
		for _, turns := range [][]*process{{old, next}, {next, old}} {
			got := walkInTurn(t, list, turns)
			got = slices.DeleteFunc(got, func(name string) bool { return !slices.Contains(want, name) }) // a lease or worker that was written meanwhile
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s in turn (-want +got)\n%s", list, diff)
			}
		}
	}
}

// plantLists makes four of whatever is listed, in turn at both builds, and
// returns the repository that the proposals are made to.
func plantLists(builds ...*process) (repo string) {
	for i := range 4 {
		c := builds[i%len(builds)].Client
		pending(c)
		worked := kind(c)
		c.Must(201, "/v1/jobs", `{"kind":"`+worked+`"}`)
		c.Must(200, "/v1/jobs/claim", fmt.Sprintf(`{"worker":"w-%d","kinds":["%s"]}`, i, worked))
		made := c.Must(201, "/v1/repos", fmt.Sprintf(`{"forge":"github","namespace":"Acme","name":"site-%d"}`, i))
		if repo == "" {
			repo = made.Str("repo.id")
		}
		c.Must(201, "/v1/repos/"+repo+"/proposals", fmt.Sprintf(`{"stream":"main","head":"h-%d","title":"t","author":"bot"}`, i))
		c.Must(201, "/v1/tokens", fmt.Sprintf(`{"name":"token %d","scopes":["jobs:read"]}`, i))
	}
	return repo
}

// walkInTurn reads a list page by page, each page at the next of the builds.
func walkInTurn(t *testing.T, list string, builds []*process) (names []string) {
	t.Helper()
	target := list + "limit=1"
	for turn := 0; ; turn++ {
		a := builds[turn%len(builds)].Get(target)
		if a.Status != 200 {
			t.Errorf("page %d of %s: %s", turn+1, list, a)
			return names
		}
		names = append(names, itemsOf(a)...)
		if a.At("has_more") != true {
			return names
		}
		target = list + "limit=1&cursor=" + url.QueryEscape(a.Str("next_cursor"))
	}
}

// itemsOf are the ids of a page, or the names where there are none.
func itemsOf(a apitest.Answer) (names []string) {
	for i := range a.Len("data") {
		item := fmt.Sprintf("data.%d.", i)
		names = append(names, strings.Join([]string{a.Str(item + "id"), a.Str(item + "name")}, " "))
	}
	return names
}

package ops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/ops"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// caller speaks to the routes of this package with one token.
type caller struct {
	t     *testing.T
	api   *web.API
	store *store.Store
	token string
	owner string
}

func each(t *testing.T, fn func(t *testing.T, c caller)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) { fn(t, call(t, s)) })
}

// call makes an owner and a token of its own.
func call(t *testing.T, s *store.Store) caller {
	t.Helper()
	c := caller{t: t, store: s, api: web.New(web.Config{Store: s, Verifier: control.NewVerifier(s), CursorKey: make([]byte, 32)})}
	ops.Routes(c.api)
	owner := dbtest.Owner(t, s, "ada")
	c.owner = owner.ID
	err := s.Tx(t.Context(), func(q model.Querier) (err error) {
		in := control.TokenIn{OwnerID: owner.ID, Name: "first", Scopes: []string{web.ScopeTokensWrite, web.ScopeJobsRead, web.ScopeOpsRead, web.ScopeJobsEnqueue, web.ScopeJobsWork}}
		c.token, _, err = control.Issue(t.Context(), q, s.Now(), in)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// do sends a request and decodes the answer into out.
func (c caller) do(method, target, body string, want int, out any) {
	c.t.Helper()
	a := apitest.HandlerClient(c.t, c.api.Handler(), c.token).Call(method, target, body)
	if a.Status != want {
		c.t.Fatalf("%s %s: want %d, got %s", method, target, want, a)
	}
	a.Into(c.t, out)
}

func TestEveryFaultOfANewTokenIsNamedAtOnce(t *testing.T) {
	each(t, func(t *testing.T, c caller) {
		var p web.Problem
		c.do("POST", "/v1/tokens", `{"name":"","scopes":["nope","jobs:read","jobs:read"],"x":1}`, 422, &p)
		var at []string
		for _, item := range p.Errors {
			at = append(at, item.Pointer)
		}
		if got := strings.Join(at, " "); got != "/name /scopes/0 /scopes/2 /x" {
			t.Errorf("faults at %q", got)
		}
		c.do("POST", "/v1/tokens", `{"name":"more","scopes":["jobs:read","admin"]}`, 403, &p)
		if p.RequiredScope != "admin" {
			t.Errorf("a token with more than the caller has: %+v", p)
		}
	})
}

func TestTokensAreListedNewestFirst(t *testing.T) {
	each(t, func(t *testing.T, c caller) {
		for i := range 4 {
			var made struct{ Secret string }
			c.do("POST", "/v1/tokens", fmt.Sprintf(`{"name":"t%d","scopes":["jobs:read"]}`, i), 201, &made)
		}
		var names []string
		for target := "/v1/tokens?limit=2"; target != ""; {
			var page struct {
				Data       []struct{ Name string }
				NextCursor *string `json:"next_cursor"`
			}
			c.do("GET", target, "", 200, &page)
			for _, token := range page.Data {
				names = append(names, token.Name)
			}
			target = ""
			if page.NextCursor != nil {
				target = "/v1/tokens?limit=2&cursor=" + *page.NextCursor
			}
		}
		if got := strings.Join(names, " "); got != "t3 t2 t1 t0 first" {
			t.Errorf("the list is %q", got)
		}
	})
}

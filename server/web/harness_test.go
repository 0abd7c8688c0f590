package web_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

const (
	adminToken  = "stint_admin"
	readerToken = "stint_reader"
	opsToken    = "stint_ops"
	otherToken  = "stint_other" // of the same owner as adminToken

	sessionSecret = "stint_session_admin"
)

// tokens is a Verifier with fixed tokens.
type tokens map[string]web.Principal

func (v tokens) Verify(_ context.Context, token string) (web.Principal, error) {
	return v.of(token, false)
}

func (v tokens) VerifySession(_ context.Context, secret string) (web.Principal, error) {
	return v.of(secret, true)
}

func (v tokens) of(text string, session bool) (web.Principal, error) {
	if p, ok := v[text]; ok && (p.Kind == control.Session) == session {
		return p, nil
	}
	return web.Principal{}, fault.Unauthorized()
}

func (v tokens) End(tokenID string, _ coltype.Time) {
	for text, p := range v {
		if p.TokenID == tokenID {
			delete(v, text)
		}
	}
}

// edge is an API with test routes on a real database, served over HTTP.
type edge struct {
	*web.API
	store *store.Store
	owner string // the admin's
	url   string
	calls *apitest.Client // as the admin
	log   *apitest.Log
	effects
}

// effects steers what POST /v1/things does beside its one row.
type effects struct {
	seq    atomic.Int64                // of the lists within a snapshot: how many things there are
	during func(q model.Querier) error // inside the transaction, after the row
	after  func()
}

// each serves the test routes on both engines.
func each(t *testing.T, fn func(t *testing.T, e *edge)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) { fn(t, serve(t, s, web.Config{})) })
}

// one serves the test routes on SQLite, for what no engine has a say in.
func one(t *testing.T, c web.Config) *edge {
	t.Helper()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)})
	return serve(t, s, c)
}

func serve(t *testing.T, s *store.Store, c web.Config) *edge {
	t.Helper()
	owner := dbtest.Owner(t, s, "ada")
	foreign := dbtest.Owner(t, s, "bob")
	e := &edge{store: s, owner: owner.ID, log: &apitest.Log{}}
	c.Version, c.Store, c.CursorKey = "test", s, []byte("0123456789abcdef")
	c.Log = slog.New(slog.NewJSONHandler(e.log, nil))
	c.Verifier = tokens{
		adminToken:    {OwnerID: owner.ID, TokenID: "tok_admin", Scopes: []string{web.ScopeAdmin}},
		otherToken:    {OwnerID: owner.ID, TokenID: "tok_other", Scopes: []string{web.ScopeAdmin}},
		opsToken:      {OwnerID: owner.ID, TokenID: "tok_ops", Scopes: []string{web.ScopeOpsRead}},
		readerToken:   {OwnerID: owner.ID, TokenID: "tok_reader", Scopes: []string{web.ScopeJobsRead}},
		"stint_bob":   {OwnerID: foreign.ID, TokenID: "tok_bob", Scopes: []string{web.ScopeAdmin}},
		sessionSecret: {OwnerID: owner.ID, TokenID: "tok_session", Kind: control.Session, Scopes: []string{web.ScopeAdmin}},
		"stint_panic": {OwnerID: owner.ID, TokenID: "tok_panic", Scopes: []string{web.ScopeAdmin}},
	}
	e.API = web.New(c)
	e.routes()
	server := httptest.NewUnstartedServer(nil)
	server.Config = web.Server("", e.Handler())
	server.Start()
	t.Cleanup(server.Close)
	e.url = server.URL
	e.calls = apitest.NewClient(t, func() string { return e.url }, adminToken)
	e.calls.Lenient = true // routes break on purpose here
	return e
}

type thingJSON struct {
	ID      string       `json:"id"`
	Kind    string       `json:"kind"`
	Payload coltype.JSON `json:"payload"`
	At      coltype.Time `json:"at" nullable:"true"`
	Note    *string      `json:"note"`
}

func (t *thingJSON) ETag() string { return web.ETag(3) }

type part struct {
	Kind string `json:"kind" pattern:"^[a-z]+$" maxLength:"20"`
	Size int64  `json:"size,omitempty" minimum:"1" maximum:"100"`
}

type thingBody struct {
	Kind     string                  `json:"kind" pattern:"^[a-z]+$" maxLength:"20"`
	Note     *string                 `json:"note,omitempty"`
	Count    int64                   `json:"count,omitempty"`
	At       coltype.Time            `json:"at,omitempty"`
	Payload  coltype.JSON            `json:"payload,omitempty" maxBytes:"262144"`
	Progress coltype.JSON            `json:"progress,omitempty" maxBytes:"16384"`
	Facts    map[string]coltype.JSON `json:"facts,omitempty" maxBytes:"body"`
	Items    []part                  `json:"items,omitempty" maxItems:"3"`
}

type thingInput struct{ Body thingBody }

// Faults refuses the word taboo.
func (in *thingInput) Faults() (items []fault.Item) {
	if note := in.Body.Note; note != nil && *note == "taboo" {
		items = append(items, fault.Item{Pointer: "/note", Detail: "taboo"})
	}
	for i, p := range in.Body.Items {
		if p.Kind == "taboo" {
			items = append(items, fault.Item{Pointer: fmt.Sprintf("/items/%d/kind", i), Detail: "taboo"})
		}
	}
	return items
}

type batchInput struct {
	Body struct {
		Items []thingBody `json:"items" minItems:"1" maxItems:"1000"`
		Words []string    `json:"words,omitempty"`
		Names []string    `json:"names,omitempty" uniqueItems:"true"`
	}
}

type created struct {
	Thing thingJSON `json:"thing"`
}

type thingQuery struct {
	web.PageQuery
	State []string     `query:"state,explode" enum:"pending,done" maxItems:"5"`
	Kind  string       `query:"kind" maxLength:"63"`
	Since coltype.Time `query:"since"`
}

type nothing struct{}

func (e *edge) routes() {
	web.Write(e.API, web.Op{Method: "POST", Path: "/v1/things", ID: "create-thing", Scope: web.ScopeJobsEnqueue, Status: 201}, e.create)
	web.Write(e.API, web.Op{Method: "POST", Path: "/v1/secrets", ID: "create-secret", Scope: web.ScopeTokensWrite, NoIdempotency: true},
		func(context.Context, model.Querier, coltype.Time, *nothing) (web.Answer[map[string]string], error) {
			return web.Answer[map[string]string]{Body: map[string]string{"secret": "s3cr3t"}}, nil
		})
	web.Write(e.API, web.Op{Method: "PATCH", Path: "/v1/things/{id}", ID: "change-thing", Scope: web.ScopeReposWrite},
		func(_ context.Context, _ model.Querier, _ coltype.Time, in *struct {
			ID string `path:"id"`
			web.IfMatch
		}) (web.Answer[created], error) {
			return web.Answer[created]{Body: created{thingJSON{ID: in.ID}}, ETag: web.ETag(4)}, in.Require(3)
		})
	web.Write(e.API, web.Op{Method: "POST", Path: "/v1/things/batch", ID: "create-things", Scope: web.ScopeJobsEnqueue, MaxBody: web.BatchLimit},
		func(context.Context, model.Querier, coltype.Time, *batchInput) (web.Answer[nothing], error) {
			return web.Answer[nothing]{}, nil
		})
	web.List(e.API, web.Op{Path: "/v1/things", ID: "list-things", Scope: web.ScopeJobsRead}, things)
	web.List(e.API, web.Op{Path: "/v1/names", ID: "list-names", Scope: web.ScopeJobsRead}, names)
	web.List(e.API, web.Op{Path: "/v1/newest", ID: "list-newest", Scope: web.ScopeJobsRead}, e.seen(web.NewestInSnapshot, -1))
	web.List(e.API, web.Op{Path: "/v1/oldest", ID: "list-oldest", Scope: web.ScopeJobsRead}, e.seen(web.OldestInSnapshot, 1))
	web.Read(e.API, web.Op{Method: "GET", Path: "/v1/things/{id}", ID: "get-thing", Scope: web.ScopeJobsRead},
		func(_ context.Context, _ model.Reader, _ coltype.Time, in *struct {
			ID string `path:"id"`
		}) (*thingJSON, error) {
			return &thingJSON{ID: in.ID}, nil
		})
	web.Upload(e.API, web.Op{Method: "POST", Path: "/v1/lines", ID: "send-lines", Scope: web.ScopeRecordsWrite, AnswerTime: lineTime}, takeLines)
	web.Read(e.API, web.Op{Method: "GET", Path: "/v1/broken", ID: "broken", Scope: web.AnyToken}, e.broken)
}

// create writes one row of meta, so that tests can count effects of this edge.
func (e *edge) create(ctx context.Context, q model.Querier, _ coltype.Time, in *thingInput) (web.Answer[created], error) {
	thing := thingJSON{ID: id.New("thing"), Kind: in.Body.Kind, Payload: in.Body.Payload, At: in.Body.At, Note: in.Body.Note}
	if _, err := q.MetaInsert(ctx, model.MetaInsertParams{Key: thing.ID, Value: e.owner + in.Body.Kind}); err != nil {
		return web.Answer[created]{}, err
	}
	if e.during != nil {
		if err := e.during(q); err != nil {
			return web.Answer[created]{}, err
		}
	}
	return web.Answer[created]{Body: created{thing}, After: e.after}, nil
}

// things are 120 that exist in arithmetic only, newest first.
var things = web.ListOf[thingQuery, keyset.Position, thingJSON]{
	Kind: "things", Order: web.Newest,
	Page: func(_ context.Context, _ model.Reader, _ *thingQuery, w web.Window) ([]keyset.Position, *keyset.Position, error) {
		var rows []keyset.Position
		for i := 120; i > 0 && len(rows) < w.Limit; i-- {
			row := thing(i)
			if at := w.Position.At; row.At.Before(at) || (row.At.Equal(at) && row.ID < w.ID) {
				rows = append(rows, row)
			}
		}
		if len(rows) < w.Limit || rows[w.Limit-1] == thing(1) {
			return rows, nil, nil
		}
		return rows, &rows[w.Limit-1], nil
	},
	Item: thingOf,
}

func thing(i int) keyset.Position {
	return keyset.Position{At: dbtest.T0.Add(time.Duration(i/3) * time.Second), ID: "thing_" + string(rune('a'+i%3))}
}

func thingOf(p keyset.Position, _ coltype.Time) thingJSON { return thingJSON{ID: p.ID, At: p.At} }

func (e *edge) broken(ctx context.Context, q model.Reader, _ coltype.Time, in *struct {
	How string `query:"how"`
}) (*created, error) {
	switch in.How {
	case "panic":
		panic("boom with stint_admin")
	case "nul":
		_, err := q.MetaGet(ctx, model.MetaGetParams{Key: "\x00\xff"})
		return nil, err
	case "sql":
		return nil, errSQL
	case "encode":
		return &created{thingJSON{Payload: coltype.JSON("{half")}}, nil
	}
	return nil, fault.NotFound()
}

// answer is what a client got.
type answer struct {
	apitest.Answer
	body string
}

func (a answer) problem(t *testing.T) web.Problem {
	t.Helper()
	if got := a.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("status %d has content type %q: %s", a.Status, got, a.body)
	}
	var p web.Problem
	a.Into(t, &p)
	if p.Status != a.Status || p.RequestID != a.Header.Get("X-Request-Id") || p.Type != "/problems/"+p.Code {
		t.Errorf("problem and answer differ: %s", a.body)
	}
	return p
}

// pointers are the places that a problem names, in order.
func (a answer) pointers(t *testing.T) string {
	t.Helper()
	var all []string
	for _, item := range a.problem(t).Errors {
		all = append(all, item.In+":"+item.Pointer)
	}
	return strings.Join(all, " ")
}

// do sends a request as the admin; headers come as name, value, …; "" takes one
// away.
func (e *edge) do(t *testing.T, method, target, body string, headers ...string) answer {
	t.Helper()
	a, err := e.calls.In(t).Try(t.Context(), method, target, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	return answer{a, string(a.Body)}
}

// send sends a request as it is.
func (e *edge) send(t *testing.T, r *http.Request) answer {
	t.Helper()
	a, err := e.calls.In(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer{a, string(a.Body)}
}

// effectsOf counts the rows that create wrote for a kind.
func (e *edge) effectsOf(t *testing.T, kind string) (n int) {
	t.Helper()
	return dbtest.Get[int](t, e.store, "select count(*) from meta where value = $1", e.owner+kind)
}

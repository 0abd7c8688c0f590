package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/store"
)

// Readiness says whether this replica can serve. Health is Ready with what the
// replica knows of itself, for /readyz?verbose; names of hosts and processes are
// for a caller who may see them.
type Readiness interface {
	Ready(ctx context.Context) error
	Health(ctx context.Context, names bool) (detail any, err error)
}

// Config is what an API is made from.
type Config struct {
	Version   string       // of the build, shown in the document
	Log       *slog.Logger // nil is slog.Default()
	Store     *store.Store
	Verifier  Verifier
	Readiness Readiness     // nil: ready until drained
	CursorKey []byte        // shared by the replicas of a database; at least 16 bytes
	Metrics   Metrics       // nil: none are kept
	BodyTime  time.Duration // for a body to arrive; 0 is 30 s
	KeyTTL    time.Duration // of an Idempotency-Key; 0 is control.DefaultKeyTTL

	// TrustedProxies may say by X-Forwarded-Proto how a client came, and by
	// X-Forwarded-For from where.
	TrustedProxies []netip.Prefix
}

// API is the routes of a server and what they share.
type API struct {
	log      *slog.Logger
	store    *store.Store
	verifier Verifier
	ready    Readiness
	cursors  cursors
	bodyTime time.Duration
	keyTTL   time.Duration
	proxies  []netip.Prefix
	echo     *echo.Echo
	huma     huma.API
	free     freeForm
	clean    cleaning
	names    names
	routes   map[string]*route // by method and pattern of the router
	served   map[string]bool   // the same of every route, of the edge's own too
	metrics  Metrics

	drainOnce sync.Once
	draining  chan struct{}
}

// New is an API with the routes that every server has: health, document, docs
// and problem pages. It panics on a cursor key shorter than 16 bytes.
func New(c Config) *API {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Metrics == nil {
		c.Metrics = unmeasured{}
	}
	if c.BodyTime == 0 {
		c.BodyTime = bodyTime
	}
	if c.KeyTTL == 0 {
		c.KeyTTL = control.DefaultKeyTTL
	}
	a := &API{
		log:      c.Log,
		store:    c.Store,
		verifier: c.Verifier,
		ready:    c.Readiness,
		cursors:  newCursors(c.CursorKey),
		bodyTime: c.BodyTime,
		keyTTL:   c.KeyTTL,
		proxies:  c.TrustedProxies,
		echo:     echo.New(),
		free:     freeForm{},
		clean:    cleaning{},
		names:    names{},
		routes:   map[string]*route{},
		served:   map[string]bool{http.MethodGet + " " + metricsPath: true},
		metrics:  c.Metrics,
		draining: make(chan struct{}),
	}
	a.huma = humaecho.New(a.echo, a.humaConfig(c.Version))
	a.echo.HTTPErrorHandler = a.routerError
	a.echo.Use(a.bindRoute, echo.WrapMiddleware(a.perRoute))
	a.registerHealth()
	a.registerDocs()
	a.registerProblems()
	return a
}

// Handler serves every registered route.
func (a *API) Handler() http.Handler {
	return chain(a.echo, a.withRequest, a.readOn, a.logAccess, a.recoverPanics, secureHeaders, a.checkPath, headAsGet)
}

// Admin serves /livez, /readyz and /metrics only, for the admin listener.
func (a *API) Admin() http.Handler {
	return chain(http.HandlerFunc(a.health), a.withRequest, a.logAccess, a.recoverPanics, secureHeaders, headAsGet)
}

// perRoute is what stands before the handler of a route of the API.
func (a *API) perRoute(next http.Handler) http.Handler {
	return chain(next, a.deadlines, a.authenticate, a.checkParams, a.readBody)
}

// chain wraps h so that the first of mw sees a request first.
func chain(h http.Handler, mw ...func(http.Handler) http.Handler) http.Handler {
	for i := len(mw) - 1; i >= 0; i-- {
		h = mw[i](h)
	}
	return h
}

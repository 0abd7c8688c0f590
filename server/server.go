// Package server is the whole server: New puts its parts together, Run prepares
// the database, serves until the context ends, and drains.
package server

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/ops"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// Config is what a server is made from.
type Config struct {
	Version string
	Log     *slog.Logger

	URL     string      // of the database that the store has open
	Migrate schema.Mode // what a start does about pending migrations

	// DrainDelay is how long a stopping server goes on accepting requests while
	// it is unready: load balancers see that, and workers hear the directive
	// drain. Claims are refused meanwhile.
	DrainDelay time.Duration
}

// Server is one replica.
type Server struct {
	api    *web.API
	runner *control.Runner
}

// New puts a server together. cursorKey authenticates the cursors of lists; all
// replicas of a database have the same. The store may be nil for a server that
// is asked for its Document only.
func New(c Config, s *store.Store, cursorKey []byte) *Server {
	verifier := control.NewVerifier(s)
	loops := append(control.StoreLoops(s), verifier.Loop())
	var runner *control.Runner
	if s != nil {
		runner = control.NewRunner(s, c.Log, append(loops, jobs.Loops()...)...)
	}
	api := web.New(web.Config{
		Version: c.Version, Log: c.Log, Store: s, CursorKey: cursorKey,
		Verifier: verifier, Readiness: control.NewReadiness(s, runner),
	})
	jobs.Routes(api, s, jobs.NewHub())
	runs.Routes(api)
	ops.Routes(api)
	return &Server{api: api, runner: runner}
}

// Handler serves the API.
func (s *Server) Handler() http.Handler { return s.api.Handler() }

// Admin serves the health routes only.
func (s *Server) Admin() http.Handler { return s.api.Admin() }

// Drain makes the server unready: new claims are refused, waiting ones answer
// empty, heartbeats say so. Requests in flight go on.
func (s *Server) Drain() { s.api.Drain() }

// Document is the API's OpenAPI document.
func (s *Server) Document() ([]byte, error) { return s.api.Document() }

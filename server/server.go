// Package server is the whole server: New puts its parts together, Run prepares
// the database, serves until the context ends, and drains.
package server

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/console"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/metrics"
	"github.com/stint-run/stint/server/notify"
	"github.com/stint-run/stint/server/ops"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
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

	// IdempotencyTTL is how long a key holds its answer; 0 is
	// control.DefaultKeyTTL. Replicas of a database have the same.
	IdempotencyTTL time.Duration

	// TTLs are how long superseded versions, deleted records and batches are kept; 0
	// is the default of each.
	TTLs records.TTLs

	// Notify, unless nil, hears Ready once the server serves, and Stopping when it
	// begins to drain.
	Notify func(state string)

	// TrustedProxies are the peers whose X-Forwarded-For and X-Forwarded-Proto
	// count; those of others are ignored.
	TrustedProxies []netip.Prefix

	// ReapEvery is the time between passes of the reaper; 0 is 10 s. The lease
	// under which it runs lasts three times as long.
	ReapEvery time.Duration

	// PassEvery, unless zero, is the longest pause between two passes of any loop.
	// Tests set it, which do not wait for a pass of once an hour.
	PassEvery time.Duration

	// PollEvery, unless zero, is how often a waiting claim looks for work that nobody
	// woke it for. Tests set it, which wait for the waking alone.
	PollEvery time.Duration
}

// What Notify hears, in the words of systemd.
const (
	Ready    = "READY=1"
	Stopping = "STOPPING=1"
)

func (c Config) notify(state string) {
	if c.Notify != nil {
		c.Notify(state)
	}
}

// Bounds of ReapEvery.
const (
	minReapEvery = 100 * time.Millisecond
	maxReapEvery = 10 * time.Minute
)

// Check says what is wrong with the settings.
func (c Config) Check() error {
	if c.ReapEvery != 0 && (c.ReapEvery < minReapEvery || c.ReapEvery > maxReapEvery) {
		return fmt.Errorf("the time between passes of the reaper is %v, not between %v and %v", c.ReapEvery, minReapEvery, maxReapEvery)
	}
	return nil
}

func (c Config) reapEvery() time.Duration {
	if c.ReapEvery == 0 {
		return jobs.ReapEvery
	}
	return c.ReapEvery
}

func (c Config) ttls() records.TTLs {
	return records.TTLs{
		Superseded: cmp.Or(c.TTLs.Superseded, records.DefaultSupersededTTL),
		Tombstone:  cmp.Or(c.TTLs.Tombstone, records.DefaultTombstoneTTL),
		Batch:      cmp.Or(c.TTLs.Batch, records.DefaultBatchTTL),
	}
}

// Server is one replica.
type Server struct {
	api    *web.API
	bus    *notify.Bus
	runner *control.Runner
}

// New puts a server together. cursorKey authenticates the cursors of lists; all
// replicas of a database have the same. The store may be nil for a server that
// is asked for its Document only. It panics on settings that fail their Check.
func New(c Config, s *store.Store, cursorKey []byte) *Server {
	ttl := cmp.Or(c.IdempotencyTTL, control.DefaultKeyTTL)
	verifier := control.NewVerifier(s)
	workers := control.NewWorkers()
	measured := metrics.New(c.Version)
	bus := notify.New(s, c.Log, notify.Waits{})
	hub := jobs.NewHub(bus)
	hub.PollEvery = cmp.Or(c.PollEvery, hub.PollEvery)
	runner := newRunner(c, s, slices.Concat(control.StoreLoops(s), []control.Loop{verifier.Loop(), control.SweepLoop(ttl)}, control.LoginLoops(),
		workers.Loops(), jobs.Loops(hub, c.reapEvery(), c.Log), []control.Loop{jobs.FiguresLoop(measured.SetQueue), sources.ReapLoop()}, records.Loops(c.ttls()))...)
	if runner != nil {
		measured.Watch(s, runner, bus)
	}
	api := web.New(web.Config{
		Version: c.Version, Log: c.Log, Store: s, CursorKey: cursorKey,
		Verifier: verifier, Readiness: control.NewReadiness(s, runner, jobs.OldestOverdue).Tells(bus), KeyTTL: ttl, Metrics: measured,
		TrustedProxies: c.TrustedProxies,
	})
	jobs.Routes(api, s, hub, workers)
	repos.Routes(api, jobs.Renamer(hub))
	runs.Routes(api)
	sources.Routes(api)
	records.Routes(api, s)
	ops.Routes(api)
	console.Routes(api, s)
	return &Server{api: api, bus: bus, runner: runner}
}

// newRunner is nil without a store. The loops are the server's own, so that a
// bad one is a mistake in this build, or in settings that nobody checked.
func newRunner(c Config, s *store.Store, loops ...control.Loop) *control.Runner {
	if s == nil {
		return nil
	}
	if c.PassEvery != 0 {
		for i := range loops {
			loops[i].Every = min(loops[i].Every, c.PassEvery)
		}
	}
	runner, err := control.NewRunner(s, c.Log, loops...)
	if err != nil {
		panic(err)
	}
	return runner
}

// Handler serves the API.
func (s *Server) Handler() http.Handler { return s.api.Handler() }

// Admin serves the health routes and /metrics only.
func (s *Server) Admin() http.Handler { return s.api.Admin() }

// Drain makes the server unready: new claims are refused, waiting ones answer
// empty, heartbeats say so. Requests in flight go on.
func (s *Server) Drain() { s.api.Drain() }

// Document is the API's OpenAPI 3.1 document.
func (s *Server) Document() ([]byte, error) { return s.api.Document() }

// Document30 is the same in OpenAPI 3.0.
func (s *Server) Document30() ([]byte, error) { return s.api.Document30() }

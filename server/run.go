package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// DrainTime is how long a stopping server waits for requests in flight.
const DrainTime = 30 * time.Second

// Listeners are where a server serves: Main the API, over TLS if that is set,
// Admin (nil: nowhere) the health routes and metrics, in plain HTTP.
type Listeners struct {
	Main, Admin net.Listener
	TLS         *tls.Config
}

// Run serves until ctx ends, and then drains: readiness goes first, waiting
// claims answer, and requests in flight finish within DrainTime. A database
// that is away, at the start too, makes the server unready, not stop; one that
// this build must not use ends Run.
func Run(ctx context.Context, c Config, s *store.Store, l Listeners) error {
	if err := c.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := newFront(c)
	over, drained := context.WithCancel(context.WithoutCancel(ctx))
	defer drained()
	running := make(chan struct{})
	go func() {
		defer close(running)
		if err := f.open(ctx, over, c, s); err != nil {
			cancel(err)
		}
	}()
	err := f.serve(ctx, c, l)
	cancel(nil)
	drained()
	<-running
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// front stands before a server that may not be there yet.
type front struct {
	server  atomic.Pointer[Server]
	main    atomic.Pointer[http.Handler]
	admin   atomic.Pointer[http.Handler]
	waiting atomic.Pointer[error] // why there is no server yet
}

func newFront(c Config) *front {
	f := &front{}
	starting := error(fault.Unavailable("The server is starting.").With("cause", "starting"))
	f.waiting.Store(&starting)
	closed := web.Closed(c.Log, func() error { return *f.waiting.Load() })
	f.main.Store(&closed)
	f.admin.Store(&closed)
	return f
}

// open prepares the database, lets the server in, and runs its background
// passes until ctx ends. Other replicas are told of changes until no request is
// left either, when over ends.
func (f *front) open(ctx, over context.Context, c Config, s *store.Store) error {
	key, err := f.prepared(ctx, c, s)
	if err != nil || ctx.Err() != nil {
		return err
	}
	server := New(c, s, key)
	main, admin := server.Handler(), server.Admin()
	f.server.Store(server)
	f.main.Store(&main)
	f.admin.Store(&admin)
	c.Log.Info("ready", "engine", s.Engine())
	c.notify(Ready)
	var wg sync.WaitGroup
	wg.Go(func() { server.bus.Run(over) })
	server.runner.Run(ctx)
	wg.Wait()
	return nil
}

// prepared tries until the database is ready.
func (f *front) prepared(ctx context.Context, c Config, s *store.Store) ([]byte, error) {
	for {
		key, err := prepare(ctx, c, s)
		if !errors.Is(err, errWaiting) || ctx.Err() != nil {
			return key, err
		}
		f.waiting.Store(&err)
		c.Log.Warn("not ready yet", "error", err.Error())
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(prepareEvery):
		}
	}
}

// serve serves until ctx ends or a listener fails, and drains.
func (f *front) serve(ctx context.Context, c Config, l Listeners) error {
	api := web.Server("", through(&f.main))
	servers := []*http.Server{api}
	failed := make(chan error, 2)
	go func() { failed <- serveMain(api, l) }()
	if l.Admin != nil {
		admin := web.Server("", through(&f.admin))
		servers = append(servers, admin)
		go func() { failed <- admin.Serve(l.Admin) }()
	}
	var err error
	delay := c.DrainDelay
	select {
	case <-ctx.Done():
		c.notify(Stopping)
		c.Log.Info("draining", "at_most", (delay + DrainTime).String())
	case err = <-failed:
		delay = 0 // there is nobody left to tell
	}
	return errors.Join(err, f.drain(delay, servers))
}

func serveMain(srv *http.Server, l Listeners) error {
	if l.TLS == nil {
		return srv.Serve(l.Main)
	}
	srv.TLSConfig = l.TLS
	return srv.ServeTLS(l.Main, "", "") // this sets up HTTP/2 too
}

// through serves by whatever handler is in place when a request comes.
func through(h *atomic.Pointer[http.Handler]) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*h.Load()).ServeHTTP(w, r) })
}

// drain stops the servers in their order: new work is refused, for delay while
// they still accept, and requests in flight finish. The admin listener goes last, so that its /readyz says
// draining meanwhile.
func (f *front) drain(delay time.Duration, servers []*http.Server) error {
	if server := f.server.Load(); server != nil {
		server.Drain()
		<-time.After(delay)
	}
	ctx, cancel := context.WithTimeout(context.Background(), DrainTime)
	defer cancel()
	var errs []error
	for _, srv := range servers {
		if err := srv.Shutdown(ctx); err != nil {
			errs = append(errs, fmt.Errorf("drain: %w", errors.Join(err, srv.Close())))
		}
	}
	return errors.Join(errs...)
}

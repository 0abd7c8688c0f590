package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

func (a *API) registerHealth() {
	a.plain(http.MethodGet, "/livez", a.livez)
	a.plain(http.MethodGet, "/readyz", a.readyz)
}

// health is the admin listener's router: it redirects nothing.
func (a *API) health(w http.ResponseWriter, r *http.Request) {
	routes := map[string]http.HandlerFunc{"/livez": a.livez, "/readyz": a.readyz}
	if _, none := a.metrics.(unmeasured); !none {
		routes[metricsPath] = a.metrics.ServeHTTP
	}
	h, ok := routes[r.URL.Path]
	switch {
	case !ok:
		a.fail(w, r, fault.NotFound())
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", "GET, HEAD")
		a.fail(w, r, fault.MethodNotAllowed())
	default:
		stateOf(r.Context()).pattern = r.URL.Path
		h(w, r)
	}
}

// livez answers as long as the process can.
func (a *API) livez(w http.ResponseWriter, r *http.Request) {
	a.answer(w, r, map[string]string{"status": "alive"})
}

// readyz answers whether this replica should get requests: 503 while it drains
// or cannot serve. ?verbose adds what the replica knows of itself, and its name on
// leases for whoever may list them.
func (a *API) readyz(w http.ResponseWriter, r *http.Request) {
	detail, err := a.readiness(r)
	if err != nil {
		f := *explain(r.Context(), err)
		if detail != nil {
			f.Members = maps.Clone(f.Members) // the fault is that of other probes too
			f.With("replica", detail)
		}
		a.fail(w, r, &f)
		return
	}
	body := map[string]any{"status": "ready"}
	if detail != nil {
		body["replica"] = detail
	}
	a.answer(w, r, body)
}

// readiness checks once, and in more detail if that is asked for.
func (a *API) readiness(r *http.Request) (detail any, err error) {
	verbose := r.URL.Query().Has("verbose")
	draining := a.stopping()
	switch {
	case a.ready == nil || (draining && !verbose):
	case verbose:
		detail, err = a.ready.Health(r.Context(), a.mayName(r))
	default:
		err = a.ready.Ready(r.Context())
	}
	switch {
	case draining:
		return detail, fault.Draining()
	case err != nil:
		return detail, unready(r, err)
	}
	return detail, nil
}

// nameTime bounds how long a probe waits to learn who asks: it must tell of a
// database that is away in time.
const nameTime = 200 * time.Millisecond

// mayName reports whether the caller may see who holds leases, as in their list.
// Whoever is not known in time may not: no token is needed, so none is refused.
func (a *API) mayName(r *http.Request) bool {
	ctx, cancel := context.WithTimeout(r.Context(), nameTime)
	defer cancel()
	p, err := a.identify(r.WithContext(ctx))
	return err == nil && p.Allows(ScopeOpsRead)
}

func (a *API) stopping() bool {
	select {
	case <-a.draining:
		return true
	default:
		return false
	}
}

// unready makes every reason a 503 that names its cause: a reason without a fault
// is not for clients.
func unready(r *http.Request, err error) *fault.Fault {
	f := explain(r.Context(), err)
	switch {
	case f.Status != http.StatusServiceUnavailable:
		f = fault.Unavailable("This replica cannot serve.").Because(err)
	case f.Members["cause"] != nil:
		return f
	}
	named := *f
	named.Members = maps.Clone(f.Members)
	return named.With("cause", cmp.Or(store.Cause(err), "unknown"))
}

// answer sends a body outside of a handler.
func (a *API) answer(w http.ResponseWriter, r *http.Request, body any) {
	rep, err := jsonReply(http.StatusOK, body)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	rep.send(stateOf(r.Context()), w)
}

// Drain makes /readyz answer 503 and closes Draining. Requests in flight go on.
func (a *API) Drain() { a.drainOnce.Do(func() { close(a.draining) }) }

// Draining is closed when this replica begins to stop: what waits ends then.
func (a *API) Draining() <-chan struct{} { return a.draining }

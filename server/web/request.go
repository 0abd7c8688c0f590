package web

import (
	"cmp"
	"context"
	"net/http"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// Principal is who a request acts for.
type Principal = control.Principal

// request is what the parts of the edge know about the request they serve. It
// is written by one goroutine: the handler's.
type request struct {
	id         string
	route      *route // nil where no route of the API matched
	pattern    string // of the router, for the log
	url        string // path and query as sent, for the fingerprint
	query      string
	path       string // decoded
	header     http.Header
	client     string // its address
	scheme     string // by which it came
	principal  Principal
	faults     []fault.Item // of parameters and body, collected before the handler
	unparsable bool         // the body is no JSON text
	body       []byte       // as sent, decompressed
	sent       *streamed    // the body of a route of Upload
	pace       *pace        // of that body
	stats      *store.Stats
	fault      *fault.Fault // what was answered, for the log
}

type requestKey struct{}

func withState(ctx context.Context, s *request) context.Context {
	return context.WithValue(ctx, requestKey{}, s)
}

// stateOf is the request's state; outside a request it is an empty one.
func stateOf(ctx context.Context) *request {
	if s, ok := ctx.Value(requestKey{}).(*request); ok {
		return s
	}
	return &request{header: http.Header{}}
}

// Caller is who the request acts for.
func Caller(ctx context.Context) Principal { return stateOf(ctx).principal }

// RequestID is the id that the request's answer and log line carry.
func RequestID(ctx context.Context) string { return stateOf(ctx).id }

// maxFaults bounds how many faults one answer names.
const maxFaults = 1000

// add collects faults; what lies beyond maxFaults is not named.
func (s *request) add(items ...fault.Item) {
	for _, item := range items[:min(len(items), maxFaults-len(s.faults))] {
		item.In = cmp.Or(item.In, fault.InBody)
		s.faults = append(s.faults, item)
	}
}

// collected is the one fault made of everything that was collected, or nil.
// Faults in path, query or header make it a 400, whatever the body holds.
func (s *request) collected() *fault.Fault {
	if len(s.faults) == 0 {
		return nil
	}
	items := distinct(s.faults)
	if s.unparsable {
		f := fault.Unparsable("")
		f.Errors = items
		return f
	}
	for _, item := range items {
		if item.In != fault.InBody {
			return fault.BadRequest(items...)
		}
	}
	return fault.Invalid(items...)
}

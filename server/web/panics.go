package web

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/stint-run/stint/server/fault"
)

// recoverPanics answers a panic as an internal fault. If an answer was begun,
// the connection is cut, so that a client cannot take half of it for whole.
func (a *API) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
			f := fault.Internal(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			if rec, ok := w.(*recorder); ok && rec.status != 0 {
				stateOf(r.Context()).fault = f
				panic(http.ErrAbortHandler)
			}
			a.fail(w, r, f)
		}()
		next.ServeHTTP(w, r)
	})
}

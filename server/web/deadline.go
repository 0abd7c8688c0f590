package web

import (
	"context"
	"net/http"
	"time"
)

// The default times of a route; Op may set others.
const (
	bodyTime   = 30 * time.Second // for a body to arrive
	answerTime = 70 * time.Second // for the answer to be made: the longest wait is 30 s
	sendTime   = 5 * time.Second  // for the answer to be sent, after that
)

// deadlines bounds how long a body may take to arrive, and an answer to be made
// and to leave. The server has no such bounds of its own, since a waiting claim
// and a long upload need others. The read deadline stands until the body was
// read whole, also while the rest of a refused body is drained; readBody lifts
// it, because it would cancel a handler that waits. The context ends first, so
// that a request that ran out of time is told so.
func (a *API) deadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read, answer := a.bodyTime, answerTime
		if rt := stateOf(r.Context()).route; rt != nil {
			read, answer = orElse(rt.op.BodyTime, read), orElse(rt.op.AnswerTime, answer)
		}
		// A writer without a connection, as in tests, has no deadlines.
		rc, now := http.NewResponseController(w), time.Now()
		_ = rc.SetWriteDeadline(now.Add(answer + sendTime))
		if hasBody(r) {
			_ = rc.SetReadDeadline(now.Add(read))
		}
		ctx, cancel := context.WithTimeout(r.Context(), answer)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func orElse(d, other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return d
}

// hasBody reports whether the client announced a body.
func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

package web

import (
	"context"
	"errors"
	"io"
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
		s := stateOf(r.Context())
		if rt := s.route; rt != nil {
			read, answer = orElse(rt.op.BodyTime, read), orElse(rt.op.AnswerTime, answer)
		}
		// A writer without a connection, as in tests, has no deadlines.
		rc, now := http.NewResponseController(w), time.Now()
		_ = rc.SetWriteDeadline(now.Add(answer + sendTime))
		if hasBody(r) {
			_ = rc.SetReadDeadline(now.Add(read))
		}
		if s.route != nil && s.route.op.line != nil {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			s.pace = &pace{conn: rc, read: read, answer: answer, idle: time.AfterFunc(answer, cancel)}
			defer s.pace.idle.Stop()
			next.ServeHTTP(w, r.WithContext(ctx))
			return
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

// pace gives a body that may take any time its deadlines anew with each read: one
// that waits for longer than read fails, and the work between two reads, or behind
// the last one, has the time answer.
type pace struct {
	conn         *http.ResponseController
	read, answer time.Duration
	idle         *time.Timer // ends the request's context
}

// renew begins the time answer anew.
func (p *pace) renew() {
	p.idle.Reset(p.answer)
	p.write(p.answer)
}

// write lets the answer leave within d, and the time that it needs for that.
func (p *pace) write(d time.Duration) { _ = p.conn.SetWriteDeadline(time.Now().Add(d + sendTime)) }

// steady is a body that is read at a pace.
type steady struct {
	body io.Reader
	pace *pace
}

func (b *steady) Read(p []byte) (int, error) {
	b.pace.idle.Stop()
	_ = b.pace.conn.SetReadDeadline(time.Now().Add(b.pace.read))
	b.pace.write(b.pace.read + b.pace.answer)
	n, err := b.body.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		// It would end a handler that works on what was read: see deadlines.
		_ = b.pace.conn.SetReadDeadline(time.Time{})
	}
	b.pace.idle.Reset(b.pace.answer)
	return n, err
}

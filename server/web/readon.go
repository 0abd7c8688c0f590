package web

import (
	"io"
	"net/http"
	"time"
)

// Bounds for reading a body that no handler wants. It is never read for longer than a
// body may take (bodyTime).
const (
	readOnBytes = 64 << 20
	readOnTime  = 10 * time.Second
)

// readOn lets an answer arrive that was made before the body was read to its end: 413
// for one that is too large, 401, 415. A connection that is closed while its client
// still sends is reset, and the answer is lost: the client takes that for trouble on
// the line and sends all of it again. So the answer goes out, the rest is read up to a
// bound, and the connection ends.
func (a *API) readOn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// HTTP/2 ends a stream without a reset of the connection. A client that expects to be
		// told to go on sends nothing before that.
		if !hasBody(r) || r.ProtoMajor != 1 || r.Header.Get("Expect") != "" {
			next.ServeHTTP(w, r)
			return
		}
		body := &sentBody{ReadCloser: r.Body}
		r = r.WithContext(r.Context())
		r.Body = body
		next.ServeHTTP(w, r)
		if body.ended {
			return
		}
		rc := http.NewResponseController(w)
		if rc.Flush() == nil && rc.SetReadDeadline(time.Now().Add(min(readOnTime, a.bodyTime))) == nil {
			_, _ = io.CopyN(io.Discard, body, readOnBytes) // an error ends the connection, which is what comes next
		}
	})
}

// sentBody knows whether the client's body was read to its end, or broke.
type sentBody struct {
	io.ReadCloser
	ended bool
}

func (b *sentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err != nil
	return n, err
}

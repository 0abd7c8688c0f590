package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"github.com/stint-run/stint/server/fault"
)

// reply is an answer that is already bytes.
type reply struct {
	status int
	header http.Header
	body   []byte
	fault  *fault.Fault
}

// Encode is the one encoder of answers: no HTML escaping, one line.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return b.Bytes(), nil
}

func jsonReply(status int, v any) (*reply, error) {
	b, err := Encode(v)
	if err != nil {
		return nil, err
	}
	return &reply{status: status, header: http.Header{"Content-Type": {jsonType}}, body: b}, nil
}

// send writes the reply.
func (rep *reply) send(s *request, w http.ResponseWriter) {
	s.fault = rep.fault
	h := w.Header()
	for name, values := range rep.header {
		h[name] = values
	}
	if s.stats != nil {
		h.Set("Server-Timing", serverTiming(s))
	}
	if rep.status == http.StatusNotModified {
		w.WriteHeader(rep.status)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(rep.body)))
	w.WriteHeader(rep.status)
	_, _ = w.Write(rep.body) // a client that is gone was told all there was
}

func serverTiming(s *request) string {
	return fmt.Sprintf(`db;dur=%.3f;desc="%d statements"`, milliseconds(s.stats.Duration()), s.stats.Statements())
}

// stream is the output that a handler gives huma: the document has the type of
// the answer from describe, and its bytes are written as they are.
type stream struct {
	Body func(ctx huma.Context)
}

func (rep *reply) stream(s *request) *stream {
	return &stream{Body: func(ctx huma.Context) {
		rep.send(s, humaecho.Unwrap(ctx).Response())
	}}
}

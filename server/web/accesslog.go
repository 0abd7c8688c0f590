package web

import (
	"log/slog"
	"net/http"
	"time"
)

// logAccess writes one line per request: the route's pattern, never the path or
// the query, since those are the client's; the token's id, never the token.
func (a *API) logAccess(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		rec := &recorder{ResponseWriter: w}
		method := r.Method
		a.metrics.Begin()
		defer func() {
			took := time.Since(began)
			a.measure(r, method, rec, took)
			a.logLine(r, method, rec, took)
		}()
		next.ServeHTTP(rec, r)
	})
}

func (a *API) logLine(r *http.Request, method string, rec *recorder, took time.Duration) {
	s := stateOf(r.Context())
	level := levelOf(r, s)
	attrs := []slog.Attr{
		slog.String("request_id", s.id),
		slog.String("client", s.client),
		slog.String("method", knownMethod(method)),
		slog.String("route", s.pattern),
		slog.Int("status", rec.Status()),
		slog.Float64("duration_ms", milliseconds(took)),
		slog.Int64("bytes", rec.bytes),
		slog.Int64("statements", int64(s.stats.Statements())),
		slog.Float64("db_ms", milliseconds(s.stats.Duration())),
	}
	if s.principal.TokenID != "" {
		attrs = append(attrs, slog.String("owner_id", s.principal.OwnerID), slog.String("token_id", s.principal.TokenID))
	}
	if f := s.fault; f != nil {
		attrs = append(attrs, slog.String("code", f.Code))
		if f.Cause != nil {
			attrs = append(attrs, slog.String("error", f.Cause.Error()))
		}
		if r.Context().Err() != nil {
			attrs = append(attrs, slog.Bool("client_gone", true))
		}
	}
	a.log.LogAttrs(r.Context(), level, "request", attrs...)
}

// levelOf is error for the server's own faults, and debug for the health routes,
// which are asked every second: that a replica is not ready is their answer.
func levelOf(r *http.Request, s *request) slog.Level {
	health := r.URL.Path == "/livez" || r.URL.Path == "/readyz"
	failed := s.fault != nil && s.fault.Status >= 500 && r.Context().Err() == nil
	switch {
	case failed && (!health || s.fault.Status != http.StatusServiceUnavailable):
		return slog.LevelError
	case health:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// knownMethod keeps a client's own words out of the log.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Status is the status that was sent; 200 if none was.
func (w *recorder) Status() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

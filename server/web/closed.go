package web

import (
	"context"
	"log/slog"
	"net/http"
)

// Closed serves what a replica can before its database is ready: /livez is 200,
// and everything else a 503 that reason explains.
func Closed(log *slog.Logger, reason func() error) http.Handler {
	a := New(Config{Log: log, CursorKey: make([]byte, 32), Readiness: closed{reason}})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", a.livez)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.fail(w, r, unready(r, reason()))
	})
	return chain(mux, a.withRequest, a.logAccess, a.recoverPanics, secureHeaders)
}

// closed is the readiness of a replica that has not begun to serve.
type closed struct{ reason func() error }

func (c closed) Ready(context.Context) error { return c.reason() }
func (c closed) Detail(context.Context) any  { return nil }

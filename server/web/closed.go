package web

import (
	"log/slog"
	"net/http"
)

// Closed serves what a replica can before its database is ready: /livez is 200,
// and everything else a 503 that reason explains.
func Closed(log *slog.Logger, reason func() error) http.Handler {
	a := New(Config{Log: log, CursorKey: make([]byte, 32)})
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/livez" && r.Method == http.MethodGet {
			a.livez(w, r)
			return
		}
		a.fail(w, r, unready(r, reason()))
	})
	return chain(serve, a.withRequest, a.logAccess, a.recoverPanics, secureHeaders, headAsGet)
}

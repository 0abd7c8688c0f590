package web

import (
	"log/slog"
	"net/http"
	"time"
)

// Server is an http.Server for h. It bounds how long headers take and how long
// a connection idles; bodies and answers have the bounds of their routes.
func Server(addr string, h http.Handler) *http.Server {
	return &http.Server{
		Addr:                         addr,
		Handler:                      h,
		ReadHeaderTimeout:            10 * time.Second,
		IdleTimeout:                  2 * time.Minute,
		MaxHeaderBytes:               256 << 10, // so that a cursor of 100 KB gets a problem, not the connection's end
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
	}
}

package web

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/stint-run/stint/server/fault"
)

// checkPath answers 404 for paths no route can have: an empty segment, a
// trailing slash, NUL, a backslash, bytes that are not UTF-8. Nothing is
// redirected, so nothing can be redirected to another host.
//
// It also makes the router match the escaped form always; bindRoute decodes
// each parameter once. Otherwise the router hands parameters over decoded or
// not depending on how the client spelled them.
func (a *API) checkPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !plainPath(r.URL.Path) {
			a.fail(w, r, fault.NotFound())
			return
		}
		escaped := *r.URL
		escaped.RawPath = r.URL.EscapedPath()
		r = r.WithContext(r.Context())
		r.URL = &escaped
		next.ServeHTTP(w, r)
	})
}

func plainPath(p string) bool {
	if p == "/" {
		return true
	}
	return strings.HasPrefix(p, "/") && utf8.ValidString(p) &&
		!strings.HasSuffix(p, "/") && !strings.Contains(p, "//") &&
		!strings.ContainsAny(p, "\x00\\")
}

// LocalPath is path if that leads to this server, and otherwise else. Browsers
// read "//host" and "/\host" as other hosts, and skip tabs and line ends.
func LocalPath(path, otherwise string) string {
	u, err := url.Parse(path)
	switch {
	case err != nil, u.Scheme != "", u.Host != "", u.User != nil, u.Opaque != "":
		return otherwise
	case !plainPath(u.Path), strings.ContainsAny(path, "\\"), !visible(path):
		return otherwise
	}
	return path
}

// headAsGet answers HEAD as GET without a body.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(r.Context())
			r.Method = http.MethodGet
			w = bodiless{w}
		}
		next.ServeHTTP(w, r)
	})
}

// bodiless drops the body of an answer.
type bodiless struct{ http.ResponseWriter }

func (w bodiless) Write(b []byte) (int, error) { return len(b), nil }

func (w bodiless) Unwrap() http.ResponseWriter { return w.ResponseWriter }

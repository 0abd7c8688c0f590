package web

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/stint-run/stint/server/fault"
)

// formLimit bounds a form, in bytes.
const formLimit = 8 << 10

// pageCSP lets a page load this server's script, style and document only.
const pageCSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// formCSP is pageCSP with forms to this server.
var formCSP = strings.Replace(pageCSP, "form-action 'none'", "form-action 'self'", 1)

// PageRoute is a route for browsers, without a token: one that they open (GET),
// or one that a page of this server sends a form to (POST).
type PageRoute struct {
	Method, Path string

	// Serve answers, unless it returns an error. sent is the query, or the form:
	// of 8 KiB at most, from a page of this server, and by a way on which a cookie
	// is safe. Any other form is refused before Serve.
	Serve func(w http.ResponseWriter, r *http.Request, sent url.Values) error

	// Refuse shows a fault to whoever accepts HTML; others get a problem. sent is
	// empty if the form was refused before Serve.
	Refuse func(w http.ResponseWriter, r *http.Request, sent url.Values, f *fault.Fault)
}

// AddPage adds the route.
func (a *API) AddPage(p PageRoute) {
	a.plain(p.Method, p.Path, func(w http.ResponseWriter, r *http.Request) {
		sent, err := a.sent(w, r, p.Method)
		if err == nil {
			err = p.Serve(w, r, sent)
		}
		if err == nil {
			return
		}
		f := explain(r.Context(), err)
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			a.fail(w, r, f)
			return
		}
		stateOf(r.Context()).fault = f
		p.Refuse(w, r, sent, f)
	})
}

// AddFile adds a file that the pages load.
func (a *API) AddFile(path, media string, b []byte) {
	a.plain(http.MethodGet, path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", pageCSP)
		w.Header().Set("Content-Type", media)
		_, _ = w.Write(b) // the client may be gone
	})
}

// plain adds a route that answers by itself: no token, no gate.
func (a *API) plain(method, path string, h http.HandlerFunc) {
	a.echo.Add(method, path, echo.WrapHandler(h))
	a.served[method+" "+path] = true
}

// sent is what a browser sends along. Where a form came from is checked first:
// whoever can make a browser log in can have it work for somebody else.
func (a *API) sent(w http.ResponseWriter, r *http.Request, method string) (url.Values, error) {
	if method == http.MethodGet {
		return r.URL.Query(), nil
	}
	switch {
	case a.cookieName(r) == "":
		return nil, fault.InsecureLogin()
	case !a.sameOrigin(r):
		return nil, fault.CrossOrigin()
	}
	r.Body = http.MaxBytesReader(w, r.Body, formLimit)
	if err := r.ParseForm(); err != nil {
		return nil, bodyFault(err, formLimit)
	}
	return r.PostForm, nil
}

// WritePage writes a page that has forms. Its policy lets browsers send Origin
// with them, which they leave out under no-referrer; other hosts get no referrer
// either way.
func WritePage(w http.ResponseWriter, r *http.Request, status int, page *template.Template, data any) {
	w.Header().Set("Content-Security-Policy", formCSP)
	w.Header().Set("Referrer-Policy", "same-origin")
	render(w, r, status, page, data)
}

func render(w http.ResponseWriter, r *http.Request, status int, page *template.Template, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if err := page.Execute(w, data); err != nil {
		stateOf(r.Context()).fault = fault.Internal(err)
	}
}

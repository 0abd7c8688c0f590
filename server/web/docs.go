package web

import (
	"embed"
	"html/template"
	"net/http"
	"path"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/stint-run/stint/server/fault"
)

// pageCSP lets a page load this server's script, style and document only.
const pageCSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed docs
var docsFiles embed.FS

var problemPages = template.Must(template.ParseFS(docsFiles, "docs/problem.tmpl"))

// plain adds a GET route that answers by itself: no token, no gate.
func (a *API) plain(path string, h http.HandlerFunc) {
	a.echo.GET(path, echo.WrapHandler(h))
	a.served[http.MethodGet+" "+path] = true
}

func (a *API) registerDocs() {
	document := sync.OnceValues(a.Document)
	a.plain("/openapi.json", func(w http.ResponseWriter, r *http.Request) {
		b, err := document()
		if err != nil {
			a.fail(w, r, err)
			return
		}
		rep := &reply{status: http.StatusOK, body: b, header: http.Header{"Content-Type": {jsonType}}}
		rep.send(stateOf(r.Context()), w)
	})
	for _, file := range []struct{ route, name, media string }{
		{"/docs", "docs.html", "text/html; charset=utf-8"},
		{"/docs/docs.js", "docs.js", "text/javascript; charset=utf-8"},
		{"/docs/docs.css", "docs.css", "text/css; charset=utf-8"},
	} {
		b, err := docsFiles.ReadFile("docs/" + file.name)
		if err != nil {
			panic(err)
		}
		a.plain(file.route, func(w http.ResponseWriter, _ *http.Request) { page(w, file.media, b) })
	}
}

func (a *API) registerProblems() {
	a.plain("/problems", func(w http.ResponseWriter, r *http.Request) {
		a.problemPage(w, r, "index", fault.Codes)
	})
	a.plain("/problems/:code", func(w http.ResponseWriter, r *http.Request) {
		code, ok := fault.Lookup(path.Base(r.URL.Path))
		if !ok {
			a.fail(w, r, fault.NotFound())
			return
		}
		a.problemPage(w, r, "problem", code)
	})
}

func (a *API) problemPage(w http.ResponseWriter, r *http.Request, name string, data any) {
	w.Header().Set("Content-Security-Policy", pageCSP)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := problemPages.ExecuteTemplate(w, name, data); err != nil {
		stateOf(r.Context()).fault = fault.Internal(err)
	}
}

func page(w http.ResponseWriter, media string, b []byte) {
	w.Header().Set("Content-Security-Policy", pageCSP)
	w.Header().Set("Content-Type", media)
	_, _ = w.Write(b) // the client may be gone
}

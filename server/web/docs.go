package web

import (
	"embed"
	"html/template"
	"net/http"
	"path"
	"sync"

	"github.com/stint-run/stint/server/fault"
)

//go:embed docs
var docsFiles embed.FS

var problemPages = template.Must(template.ParseFS(docsFiles, "docs/problem.tmpl"))

func (a *API) registerDocs() {
	a.registerDocument("/openapi.json", a.Document)
	a.registerDocument("/openapi-3.0.json", a.Document30)
	for _, file := range []struct{ route, name, media string }{
		{"/docs", "docs.html", "text/html; charset=utf-8"},
		{"/docs/docs.js", "docs.js", "text/javascript; charset=utf-8"},
		{"/docs/docs.css", "docs.css", "text/css; charset=utf-8"},
	} {
		b, err := docsFiles.ReadFile("docs/" + file.name)
		if err != nil {
			panic(err)
		}
		a.AddFile(file.route, file.media, b)
	}
}

// registerDocument serves a document that is made once.
func (a *API) registerDocument(route string, document func() ([]byte, error)) {
	made := sync.OnceValues(document)
	a.plain(http.MethodGet, route, func(w http.ResponseWriter, r *http.Request) {
		b, err := made()
		if err != nil {
			a.fail(w, r, err)
			return
		}
		rep := &reply{status: http.StatusOK, body: b, header: http.Header{"Content-Type": {jsonType}}}
		rep.send(stateOf(r.Context()), w)
	})
}

func (a *API) registerProblems() {
	a.plain(http.MethodGet, "/problems", func(w http.ResponseWriter, r *http.Request) {
		a.problemPage(w, r, "index", fault.Codes)
	})
	a.plain(http.MethodGet, "/problems/:code", func(w http.ResponseWriter, r *http.Request) {
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
	render(w, r, http.StatusOK, problemPages.Lookup(name), data)
}

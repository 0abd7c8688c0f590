// Package console is what a browser sees of a server beyond its API document:
// the pages by which an owner's browser begins and ends a session.
//
// A login link (see control.LoginPath) has its secret behind the #, and a GET of
// it, which mail scanners and previews send too, uses nothing up. The page's
// script puts the secret into the form; without scripts a person pastes it.
package console

import (
	"context"
	"embed"
	"html/template"
	"net/http"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

//go:embed pages
var files embed.FS

var loginPage = template.Must(template.ParseFS(files, "pages/login.tmpl"))

// pages is what the handlers share.
type pages struct {
	api   *web.API
	store *store.Store
}

// Routes adds the pages to the API.
func Routes(a *web.API, s *store.Store) {
	h := &pages{api: a, store: s}
	a.AddPage(web.PageRoute{Method: http.MethodGet, Path: "/login", Serve: h.login, Refuse: refuse})
	a.AddPage(web.PageRoute{Method: http.MethodPost, Path: "/login", Serve: h.signIn, Refuse: refuse})
	a.AddPage(web.PageRoute{Method: http.MethodPost, Path: "/logout", Serve: h.signOut, Refuse: refuseSignOut})
	script, err := files.ReadFile("pages/login.js")
	if err != nil {
		panic(err)
	}
	a.AddFile("/login/login.js", "text/javascript; charset=utf-8", script)
}

// tx runs fn in one transaction, at the time of its database.
func (h *pages) tx(ctx context.Context, fn func(q model.Querier, now coltype.Time) error) error {
	return h.store.Tx(ctx, func(q model.Querier) error {
		now, err := h.store.TxTime()
		if err != nil {
			return err
		}
		return fn(q, now)
	})
}

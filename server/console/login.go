package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/web"
)

// loginView is what the page shows.
type loginView struct {
	Caller  web.Principal // zero: nobody is signed in
	Next    string
	Problem *fault.Fault
}

// Open reports whether the page has its form: not where login is refused.
func (v loginView) Open() bool { return v.Problem == nil || v.Problem.Code != "insecure_login" }

func (h *pages) login(w http.ResponseWriter, r *http.Request, sent url.Values) error {
	caller, err := h.api.Session(r)
	if err != nil {
		return err
	}
	web.WritePage(w, r, http.StatusOK, loginPage, loginView{Caller: caller, Next: next(sent)})
	return nil
}

// refuse shows the page with a fault.
func refuse(w http.ResponseWriter, r *http.Request, sent url.Values, f *fault.Fault) {
	web.WritePage(w, r, f.Status, loginPage, loginView{Next: next(sent), Problem: f})
}

// refuseSignOut does without a next page: nobody has asked for one.
func refuseSignOut(w http.ResponseWriter, r *http.Request, _ url.Values, f *fault.Fault) {
	web.WritePage(w, r, f.Status, loginPage, loginView{Problem: f})
}

// signIn uses a link up and begins its session.
func (h *pages) signIn(w http.ResponseWriter, r *http.Request, sent url.Values) error {
	var secret string
	var session model.Token
	err := h.tx(r.Context(), func(q model.Querier, now coltype.Time) (err error) {
		secret, session, err = control.Login(r.Context(), q, now, strings.TrimSpace(sent.Get("code")))
		return err
	})
	if err != nil {
		return err
	}
	h.api.SignIn(w, r, secret, session)
	seeOther(w, next(sent))
	return nil
}

// signOut ends the session whose cookie the request carries; one that is over
// is no fault.
func (h *pages) signOut(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	if err := h.api.SignOut(w, r, h.end); err != nil {
		return err
	}
	seeOther(w, "/login")
	return nil
}

// end ends a session, and says when it did.
func (h *pages) end(ctx context.Context, caller web.Principal) (at coltype.Time, err error) {
	err = h.tx(ctx, func(q model.Querier, now coltype.Time) error {
		at = now
		return control.EndSession(ctx, q, now, caller)
	})
	return at, err
}

func seeOther(w http.ResponseWriter, path string) {
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusSeeOther)
}

// next is where a browser goes after its login: where the link says, if that is
// on this server, else to the API's document.
func next(sent url.Values) string { return web.LocalPath(sent.Get("next"), "/docs") }

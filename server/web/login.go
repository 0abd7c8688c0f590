package web

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
)

// formLimit bounds the forms of this file, in bytes.
const formLimit = 8 << 10

// loginCSP is pageCSP with forms to this server.
var loginCSP = strings.Replace(pageCSP, "form-action 'none'", "form-action 'self'", 1)

var loginPages = template.Must(template.ParseFS(docsFiles, "docs/login.tmpl"))

// registerLogin adds the pages by which an owner's browser begins and ends a
// session. A link is SERVER/login#SECRET: what follows the # stays in the
// browser, so no proxy, log or Referer ever holds it, and a GET, which mail
// scanners and previews send too, uses nothing up. The page's script puts the
// secret into the form; without scripts a person pastes it.
func (a *API) registerLogin() {
	a.plain("/login", a.loginPage)
	for path, h := range map[string]http.HandlerFunc{"/login": a.login, "/logout": a.logout} {
		a.echo.POST(path, echo.WrapHandler(h))
		a.served[http.MethodPost+" "+path] = true
	}
	script, err := docsFiles.ReadFile("docs/login.js")
	if err != nil {
		panic(err)
	}
	a.plain("/login/login.js", func(w http.ResponseWriter, _ *http.Request) {
		page(w, "text/javascript; charset=utf-8", script)
	})
}

// loginView is what the page shows.
type loginView struct {
	Caller  Principal // zero: nobody is signed in
	Next    string
	Problem *fault.Fault
}

// Open reports whether the page has its form: not where login is refused.
func (v loginView) Open() bool { return v.Problem == nil || v.Problem.Code != "insecure_login" }

func (a *API) loginPage(w http.ResponseWriter, r *http.Request) {
	view := loginView{Next: localPath(r.URL.Query().Get("next"))}
	if a.cookieName(r) == "" {
		a.failLogin(w, r, view, fault.InsecureLogin())
		return
	}
	if secret, ok := a.cookie(r); ok {
		p, err := a.verifier.VerifySession(r.Context(), secret)
		if f := explain(r.Context(), err); err != nil && f.Status != http.StatusUnauthorized {
			a.failLogin(w, r, view, f)
			return
		}
		view.Caller = p
	}
	a.showLogin(w, r, view, http.StatusOK)
}

// login uses a link up and begins its session.
func (a *API) login(w http.ResponseWriter, r *http.Request) {
	form, err := a.form(w, r)
	view := loginView{Next: localPath(form.Get("next"))}
	if err != nil {
		a.failLogin(w, r, view, err)
		return
	}
	var secret string
	var token model.Token
	var now coltype.Time
	err = a.store.Tx(r.Context(), func(q model.Querier) (err error) {
		if now, err = a.store.TxTime(); err != nil {
			return err
		}
		secret, token, err = control.Login(r.Context(), q, now, strings.TrimSpace(form.Get("code")))
		return err
	})
	if err != nil {
		a.failLogin(w, r, view, err)
		return
	}
	stateOf(r.Context()).principal = Principal{OwnerID: token.OwnerID, TokenID: token.ID}
	a.setCookie(w, r, secret, now, token.ExpiresAt)
	seeOther(w, view.Next)
}

// logout ends the session whose cookie the request carries, at once on this
// replica, and takes the cookie away.
func (a *API) logout(w http.ResponseWriter, r *http.Request) {
	_, err := a.form(w, r)
	if err == nil {
		err = a.endSession(r)
	}
	if err != nil {
		a.failLogin(w, r, loginView{}, err)
		return
	}
	a.setCookie(w, r, "", coltype.Time{}, coltype.Time{})
	seeOther(w, "/login")
}

// endSession revokes the caller's session; one that is over is no fault.
func (a *API) endSession(r *http.Request) error {
	secret, ok := a.cookie(r)
	if !ok {
		return nil
	}
	p, err := a.verifier.VerifySession(r.Context(), secret)
	if err != nil {
		if f := explain(r.Context(), err); f.Status == http.StatusUnauthorized {
			return nil
		}
		return err
	}
	stateOf(r.Context()).principal = p
	return a.revoke(r.Context(), p)
}

func (a *API) revoke(ctx context.Context, p Principal) error {
	var now coltype.Time
	err := a.store.Tx(ctx, func(q model.Querier) (err error) {
		if now, err = a.store.TxTime(); err != nil {
			return err
		}
		return control.EndSession(ctx, q, now, p)
	})
	if err == nil {
		a.EndToken(p.TokenID, now)
	}
	return err
}

// form reads what a page of ours has sent, by a way on which a cookie is safe.
// Where it came from is judged first: whoever can make a browser log in can
// have it work for somebody else.
func (a *API) form(w http.ResponseWriter, r *http.Request) (url.Values, error) {
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

// failLogin answers a fault: as the page to a browser, else as a problem.
func (a *API) failLogin(w http.ResponseWriter, r *http.Request, view loginView, err error) {
	f := explain(r.Context(), err)
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		a.fail(w, r, f)
		return
	}
	view.Problem = f
	stateOf(r.Context()).fault = f
	a.showLogin(w, r, view, f.Status)
}

// showLogin writes the page. Its policy lets browsers send Origin with the form,
// which they leave out under no-referrer; other hosts get no referrer either way.
func (a *API) showLogin(w http.ResponseWriter, r *http.Request, view loginView, status int) {
	h := w.Header()
	h.Set("Content-Security-Policy", loginCSP)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	if err := loginPages.ExecuteTemplate(w, "login", view); err != nil {
		stateOf(r.Context()).fault = fault.Internal(err)
	}
}

func seeOther(w http.ResponseWriter, path string) {
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusSeeOther)
}

// home is where a browser goes after its login unless the link says otherwise.
const home = "/docs"

// localPath is next if it leads to this server, and home else. Browsers read
// "//host" and "/\host" as other hosts, and skip tabs and line ends.
func localPath(next string) string {
	u, err := url.Parse(next)
	switch {
	case err != nil, u.Scheme != "", u.Host != "", u.User != nil, u.Opaque != "":
		return home
	case !plainPath(u.Path), strings.ContainsAny(next, "\\"), !visible(next):
		return home
	}
	return next
}

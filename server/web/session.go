package web

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
)

// The cookie of a session. Over TLS its prefix makes browsers refuse one that
// another host, a path or plain HTTP has set; on plain HTTP from this machine,
// where that prefix is not to be had, it has a name of its own. Browsers keep
// cookies by host alone, so the port is in the name: two servers on one host would
// end each other's sessions. Only https on its standard port goes without.
const (
	secureCookie = "__Host-stint"
	localCookie  = "stint_session"
)

// cookieName is the cookie that a request may carry a session in; "" if it came
// by a way on which a cookie could be read.
func (a *API) cookieName(r *http.Request) string {
	switch {
	case a.secure(r):
		if port := portOf(r, "443"); port != "443" {
			return secureCookie + "_" + port
		}
		return secureCookie
	case local(r) && !a.proxied(r):
		return localCookie + "_" + portOf(r, "80")
	}
	return ""
}

// portOf is the port that the browser asked for, which need not be the one that the
// server listens on; standard if the address names none.
func portOf(r *http.Request, standard string) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return standard
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return standard
	}
	return strconv.FormatUint(n, 10)
}

// cookie is the secret of the session whose cookie the request carries, exactly
// once.
func (a *API) cookie(r *http.Request) (secret string, ok bool) {
	name := a.cookieName(r)
	if name == "" {
		return "", false
	}
	sent := r.CookiesNamed(name)
	if len(sent) != 1 || sent[0].Value == "" {
		return "", false
	}
	return sent[0].Value, true
}

// setCookie gives the browser a secret for so many seconds; a negative number
// takes the cookie away.
func (a *API) setCookie(w http.ResponseWriter, r *http.Request, secret string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: a.cookieName(r), Value: secret, Path: "/", HttpOnly: true,
		Secure: a.secure(r), SameSite: http.SameSiteLaxMode, MaxAge: maxAge,
	})
}

// Session reads the request's cookie and returns whom its session stands for;
// zero without a cookie, or if the session is over. A request that came by a way
// on which others could read a cookie gets the fault insecure_login.
func (a *API) Session(r *http.Request) (Principal, error) {
	if a.cookieName(r) == "" {
		return Principal{}, fault.InsecureLogin()
	}
	secret, ok := a.cookie(r)
	if !ok {
		return Principal{}, nil
	}
	p, err := a.verifier.VerifySession(r.Context(), secret)
	if err != nil && explain(r.Context(), err).Status == http.StatusUnauthorized {
		return Principal{}, nil
	}
	return p, err
}

// SignIn gives the browser the cookie of a session that has just begun.
func (a *API) SignIn(w http.ResponseWriter, r *http.Request, secret string, session model.Token) {
	stateOf(r.Context()).principal = Principal{OwnerID: session.OwnerID, TokenID: session.ID}
	a.setCookie(w, r, secret, int(session.ExpiresAt.Sub(session.CreatedAt)/time.Second))
}

// SignOut ends the request's session and takes the cookie away. end ends it in
// the database and returns when it did; from then on this replica refuses it.
// Without a session only the cookie is taken away.
func (a *API) SignOut(w http.ResponseWriter, r *http.Request, end func(ctx context.Context, p Principal) (coltype.Time, error)) error {
	p, err := a.Session(r)
	if err != nil {
		return err
	}
	if p.TokenID != "" {
		stateOf(r.Context()).principal = p
		at, err := end(r.Context(), p)
		if err != nil {
			return err
		}
		a.EndToken(p.TokenID, at)
	}
	a.setCookie(w, r, "", -1)
	return nil
}

package web

import (
	"net/http"
	"time"

	"github.com/stint-run/stint/schema/coltype"
)

// The cookie of a session. Over TLS its prefix makes browsers refuse one that
// another host, a path or plain HTTP has set; on plain HTTP from this machine,
// where that prefix is not to be had, it has a name of its own.
const (
	secureCookie = "__Host-stint"
	localCookie  = "stint_session"
)

// cookieName is the cookie that a request may carry a session in; "" if it came
// by a way on which a cookie could be read.
func (a *API) cookieName(r *http.Request) string {
	switch {
	case a.secure(r):
		return secureCookie
	case local(r) && !a.proxied(r):
		return localCookie
	}
	return ""
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

// setCookie gives the browser a session, or with the zero time takes it away.
func (a *API) setCookie(w http.ResponseWriter, r *http.Request, secret string, now, until coltype.Time) {
	c := &http.Cookie{
		Name: a.cookieName(r), Value: secret, Path: "/", HttpOnly: true,
		Secure: a.secure(r), SameSite: http.SameSiteLaxMode, MaxAge: -1,
	}
	if !until.IsZero() {
		c.MaxAge = int(until.Sub(now) / time.Second)
	}
	http.SetCookie(w, c)
}

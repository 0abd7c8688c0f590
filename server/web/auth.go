package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
)

// Verifier knows whose a token is. An unknown, expired or revoked token is a
// fault.Unauthorized, and so is one of the other kind.
type Verifier interface {
	Verify(ctx context.Context, token string) (Principal, error)
	// VerifySession is Verify for what the cookie of a session holds.
	VerifySession(ctx context.Context, secret string) (Principal, error)
	// End refuses a token, which was revoked, at once.
	End(tokenID string, now coltype.Time)
}

// authenticate finds out who asks, and whether the token may, before a byte of
// the body is read. Routes without a scope need no token.
func (a *API) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := stateOf(r.Context())
		if s.route == nil {
			next.ServeHTTP(w, r)
			return
		}
		if err := a.admit(r, s); err != nil {
			a.fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *API) admit(r *http.Request, s *request) error {
	p, err := a.identify(r)
	if err != nil {
		return err
	}
	s.principal = p
	if scope := s.route.op.Scope; scope != AnyToken && !p.Allows(scope) {
		return fault.Forbidden(scope)
	}
	return nil
}

// identify finds out who asks: by the Authorization header if there is one,
// good or bad, and by the cookie of a session only else. A browser adds the
// cookie by itself, whoever made it send the request, so with that a change
// needs a page of our own behind it.
func (a *API) identify(r *http.Request) (Principal, error) {
	if headers := r.Header.Values("Authorization"); len(headers) > 0 {
		token, ok := bearer(headers)
		if !ok {
			return Principal{}, fault.Unauthorized()
		}
		return a.verifier.Verify(r.Context(), token)
	}
	secret, ok := a.cookie(r)
	if !ok {
		return Principal{}, fault.Unauthorized()
	}
	if r.Method != http.MethodGet && !a.sameOrigin(r) {
		return Principal{}, fault.CrossOrigin()
	}
	return a.verifier.VerifySession(r.Context(), secret)
}

// EndToken makes this replica refuse a token that was revoked; others do within
// 5 s.
func (a *API) EndToken(id string, now coltype.Time) { a.verifier.End(id, now) }

// bearer is the token of exactly one Authorization header. The scheme's case
// does not matter; the token is printable ASCII without a space.
func bearer(headers []string) (string, bool) {
	if len(headers) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(headers[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > 512 {
		return "", false
	}
	return token, visible(token)
}

// visible reports whether s is printable ASCII without a space.
func visible(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

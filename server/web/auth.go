package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/stint-run/stint/server/fault"
)

// Verifier knows whose a token is. An unknown, expired or revoked token is a
// fault.Unauthorized.
type Verifier interface {
	Verify(ctx context.Context, token string) (Principal, error)
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
	token, ok := bearer(r.Header.Values("Authorization"))
	if !ok {
		return fault.Unauthorized()
	}
	p, err := a.verifier.Verify(r.Context(), token)
	if err != nil {
		return err
	}
	s.principal = p
	if scope := s.route.op.Scope; scope != AnyToken && !p.Allows(scope) {
		return fault.Forbidden(scope)
	}
	return nil
}

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

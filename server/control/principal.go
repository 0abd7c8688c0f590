package control

import (
	"slices"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
)

// ScopeAdmin is the scope that holds every other one.
const ScopeAdmin = "admin"

// Principal is who a request acts for: an owner, through one of its tokens.
// The edge knows it as web.Principal.
type Principal struct {
	OwnerID   string
	OwnerName string
	TokenID   string
	TokenName string
	Scopes    []string

	Kind      string       // of the token: Bearer or Session
	ExpiresAt coltype.Time // of the token; zero: never
}

// Allows reports whether the principal may do what needs scope.
func (p Principal) Allows(scope string) bool {
	return slices.Contains(p.Scopes, scope) || slices.Contains(p.Scopes, ScopeAdmin)
}

// Covers is nil if the principal has all of scopes, else a 403 that names those it
// lacks.
func (p Principal) Covers(scopes []string) error {
	var missing []string
	for _, scope := range scopes {
		if !p.Allows(scope) {
			missing = append(missing, scope)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fault.Forbidden(missing...)
}

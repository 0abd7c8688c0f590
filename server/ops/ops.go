// Package ops has the routes by which an owner runs its server: who am I,
// which tokens there are, and which replica does the background work.
package ops

import (
	"encoding/json"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// tokenJSON is a token as clients see it, without its text: that is shown once.
type tokenJSON struct {
	ID         string       `json:"id"`
	Name       string       `json:"name"`
	Scopes     []string     `json:"scopes"`
	CreatedAt  coltype.Time `json:"created_at"`
	ExpiresAt  coltype.Time `json:"expires_at" nullable:"true"`
	LastUsedAt coltype.Time `json:"last_used_at" nullable:"true" doc:"To the minute."`
	RevokedAt  coltype.Time `json:"revoked_at" nullable:"true"`
}

func tokenOf(t model.Token) tokenJSON {
	scopes := []string{}
	_ = json.Unmarshal(t.Scopes, &scopes) // written by control.Issue
	return tokenJSON{
		ID: t.ID, Name: t.Name, Scopes: scopes, CreatedAt: t.CreatedAt,
		ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt, RevokedAt: t.RevokedAt,
	}
}

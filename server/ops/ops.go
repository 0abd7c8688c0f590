// Package ops has the routes by which an owner runs its server: who am I,
// which tokens and workers there are, which replica does the background work, and
// what needs a person.
package ops

import (
	"encoding/json"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// tokenJSON is a token as clients see it, without its text: that is shown once.
type tokenJSON struct {
	ID         string       `json:"id"`
	Kind       string       `json:"kind" enum:"bearer,session" doc:"A session is what a login began; only a cookie carries it."`
	Name       string       `json:"name"`
	Scopes     []string     `json:"scopes"`
	CreatedAt  coltype.Time `json:"created_at"`
	ExpiresAt  coltype.Time `json:"expires_at" nullable:"true"`
	LastUsedAt coltype.Time `json:"last_used_at" nullable:"true" doc:"To the minute."`
	RevokedAt  coltype.Time `json:"revoked_at" nullable:"true"`
	CreatedBy  *string      `json:"created_by" nullable:"true" doc:"The token or session that made it, or made the login link that began it; null: the command line on the database itself, or a server of release 0010 or before."`
}

// namesOf are the scopes that control wrote into a row.
func namesOf(text coltype.JSON) []string {
	scopes := []string{}
	_ = json.Unmarshal(text, &scopes)
	return scopes
}

func tokenOf(t model.Token) tokenJSON {
	return tokenJSON{
		ID: t.ID, Kind: t.Kind, Name: t.Name, Scopes: namesOf(t.Scopes), CreatedAt: t.CreatedAt,
		ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt, RevokedAt: t.RevokedAt, CreatedBy: t.CreatedBy,
	}
}

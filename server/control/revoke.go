package control

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// RevokeIn says what is revoked, and who asks.
type RevokeIn struct {
	OwnerID  string
	ID       string // of a token or session, or of a link
	WithMade bool   // of a token: what it made too, and what that made
	Scopes   []string
}

// allows is nil if whoever asks has the scopes of what is revoked, else a 403: a
// token cannot end what may do more than itself.
func (in RevokeIn) allows(text coltype.JSON) error {
	scopes, err := scopesOf(text)
	if err != nil {
		return fmt.Errorf("read scopes of %s: %w", in.ID, err)
	}
	return Principal{Scopes: in.Scopes}.Covers(scopes)
}

// Revoked is what a revocation ended.
type Revoked struct {
	Token model.Token
	Ended []string // the token and, if asked for, the tokens and sessions that it made, also those that had ended before
	Made  Made     // of that, what had not ended before
}

// Made counts what ended beside the token that was revoked.
type Made struct {
	Tokens int64 `json:"tokens" doc:"Tokens and sessions."`
	Links  int64 `json:"login_links" doc:"Login links that nobody had used."`
}

// Revoke ends a token, or a session, of an owner, and the links that it made and
// nobody has used. With WithMade it also ends the tokens that it made, the sessions
// that its links began, and all that those made. Revoking twice changes nothing,
// but ends what it left the first time. A token that the owner does not have is a
// 404, one with scopes that in.Scopes lacks a 403. After the commit the caller
// tells the Verifier by End, so that this replica refuses them at once.
func Revoke(ctx context.Context, q model.Querier, now coltype.Time, in RevokeIn) (Revoked, error) {
	var out Revoked
	of := model.TokenGetParams{ID: in.ID, OwnerID: in.OwnerID}
	token, err := q.TokenGet(ctx, of)
	if store.NotFound(err) {
		return out, fault.NotFound()
	}
	if err != nil {
		return out, fmt.Errorf("get %s: %w", in.ID, err)
	}
	if err := in.allows(token.Scopes); err != nil {
		return out, err
	}
	if out.Made.Links, err = revoke(ctx, q, now, in.OwnerID, in.ID); err != nil {
		return out, err
	}
	made := lineage{q: q, now: now, ownerID: in.OwnerID, ended: map[string]bool{in.ID: true}}
	if in.WithMade {
		if err := made.end(ctx, []string{in.ID}); err != nil {
			return out, err
		}
	}
	out.Ended = slices.Sorted(maps.Keys(made.ended))
	out.Made.Tokens, out.Made.Links = made.tokens, out.Made.Links+made.links
	if out.Token, err = q.TokenGet(ctx, of); err != nil {
		return out, fmt.Errorf("get %s: %w", in.ID, err)
	}
	return out, nil
}

// revoke ends a token, which may not exist, and its unused links; it returns how
// many links.
func revoke(ctx context.Context, q model.Querier, now coltype.Time, ownerID, tokenID string) (int64, error) {
	_, err := q.TokenRevoke(ctx, model.TokenRevokeParams{ID: tokenID, OwnerID: ownerID, RevokedAt: now})
	if err != nil {
		return 0, fmt.Errorf("revoke %s: %w", tokenID, err)
	}
	return revokeLinks(ctx, q, now, ownerID, []string{tokenID})
}

// revokeLinks ends the unused links of makers, and returns how many.
func revokeLinks(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, makers []string) (int64, error) {
	if len(makers) == 0 {
		return 0, nil
	}
	text, err := json.Marshal(makers)
	if err != nil {
		return 0, err
	}
	n, err := q.LoginLinkRevokeMade(ctx, model.LoginLinkRevokeMadeParams{OwnerID: ownerID, Makers: string(text), Now: now})
	if err != nil {
		return 0, fmt.Errorf("revoke the links of %d tokens: %w", len(makers), err)
	}
	return n, nil
}

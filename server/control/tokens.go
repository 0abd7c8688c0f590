package control

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/store"
)

// Kinds of a token. A bearer token is shown in the Authorization header, the
// secret of a session in its cookie; neither is taken in the other's place.
const (
	Bearer  = "bearer"
	Session = "session"
)

// TokenKinds lists them.
var TokenKinds = []string{Bearer, Session}

const tokenNameSize = 255

// TokenIn is what a new token may do, and until when.
type TokenIn struct {
	OwnerID   string
	Name      string       // for people; 1 to 255 bytes
	Scopes    []string     // known ones; at least one
	ExpiresAt coltype.Time // zero: never
}

// Issue makes a token and returns its text, which is kept nowhere: the database
// has its SHA-256. An empty or overlong name, no scope, or an expiry that has
// passed is a 422.
func Issue(ctx context.Context, q model.Querier, now coltype.Time, in TokenIn) (string, model.Token, error) {
	return in.issue(ctx, q, now, Bearer)
}

func (in TokenIn) issue(ctx context.Context, q model.Querier, now coltype.Time, kind string) (string, model.Token, error) {
	if items := in.faults(now); len(items) > 0 {
		return "", model.Token{}, fault.Invalid(items...)
	}
	scopes, err := scopesText(in.Scopes)
	if err != nil {
		return "", model.Token{}, err
	}
	text := newSecret(map[string]string{Bearer: tokenPrefix, Session: sessionPrefix}[kind])
	row := model.TokenInsertParams{
		ID: id.New("tok"), OwnerID: in.OwnerID, Name: in.Name, Hash: hashSecret(text),
		Scopes: scopes, CreatedAt: now, ExpiresAt: in.ExpiresAt, Kind: kind,
	}
	if err := q.TokenInsert(ctx, row); err != nil {
		return "", model.Token{}, fmt.Errorf("keep token: %w", err)
	}
	return text, model.Token{
		ID: row.ID, OwnerID: row.OwnerID, Name: row.Name, Hash: row.Hash,
		Scopes: row.Scopes, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, Kind: kind,
	}, nil
}

func (in TokenIn) faults(now coltype.Time) (items []fault.Item) {
	if in.Name == "" || len(in.Name) > tokenNameSize {
		items = append(items, fault.Item{Pointer: "/name", Detail: "must be 1 to 255 bytes"})
	}
	if len(in.Scopes) == 0 {
		items = append(items, fault.Item{Pointer: "/scopes", Detail: "must name at least one scope"})
	}
	if !in.ExpiresAt.IsZero() && !in.ExpiresAt.After(now) {
		items = append(items, fault.Item{Pointer: "/expires_at", Detail: "must lie in the future"})
	}
	return items
}

// Revoke ends a token, or a session, of an owner and returns it. Revoking twice
// changes nothing. A token that the owner does not have is a 404. After the commit
// the caller tells the Verifier by End, so that this replica refuses it at once.
func Revoke(ctx context.Context, q model.Querier, now coltype.Time, ownerID, tokenID string) (model.Token, error) {
	if err := revoke(ctx, q, now, ownerID, tokenID); err != nil {
		return model.Token{}, err
	}
	token, err := q.TokenGet(ctx, model.TokenGetParams{ID: tokenID, OwnerID: ownerID})
	if store.NotFound(err) {
		return model.Token{}, fault.NotFound()
	}
	if err != nil {
		return model.Token{}, fmt.Errorf("get %s: %w", tokenID, err)
	}
	return token, nil
}

// revoke is Revoke of a token that may not exist.
func revoke(ctx context.Context, q model.Querier, now coltype.Time, ownerID, tokenID string) error {
	_, err := q.TokenRevoke(ctx, model.TokenRevokeParams{ID: tokenID, OwnerID: ownerID, RevokedAt: now})
	if err != nil {
		return fmt.Errorf("revoke %s: %w", tokenID, err)
	}
	return nil
}

// scopesText is a set of scopes as a row keeps it.
func scopesText(scopes []string) (coltype.JSON, error) {
	text, err := json.Marshal(slices.Compact(slices.Sorted(slices.Values(scopes))))
	return text, err
}

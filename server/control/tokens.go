package control

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
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
	Name      string       // for people; 1 to 255 bytes, see NameFault
	Scopes    []string     // known ones; at least one
	ExpiresAt coltype.Time // zero: never
	CreatedBy string       // id of the token or session that makes it; "": made on the database itself
}

// Issue makes a token and returns its text, which is kept nowhere: the database
// has its SHA-256. A name that is none, no scope, or an expiry that has passed is
// a 422. A scope that the maker lacks is a 403, a maker that is not valid any more
// a 401; the token ends with its maker at the latest.
func Issue(ctx context.Context, q model.Querier, now coltype.Time, in TokenIn) (string, model.Token, error) {
	if items := in.faults(now); len(items) > 0 {
		return "", model.Token{}, fault.Invalid(items...)
	}
	by, err := hold(ctx, q, now, in.OwnerID, in.CreatedBy)
	if err != nil {
		return "", model.Token{}, err
	}
	return in.issue(ctx, q, now, Bearer, by)
}

func (in TokenIn) issue(ctx context.Context, q model.Querier, now coltype.Time, kind string, by maker) (string, model.Token, error) {
	if err := by.allows(in.Scopes); err != nil {
		return "", model.Token{}, err
	}
	scopes, err := scopesText(in.Scopes)
	if err != nil {
		return "", model.Token{}, err
	}
	text := newSecret(map[string]string{Bearer: tokenPrefix, Session: sessionPrefix}[kind])
	row := model.TokenInsertParams{
		ID: id.New("tok"), OwnerID: in.OwnerID, Name: in.Name, Hash: hashSecret(text),
		Scopes: scopes, CreatedAt: now, ExpiresAt: by.until(in.ExpiresAt), Kind: kind, CreatedBy: by.createdBy(),
	}
	if err := q.TokenInsert(ctx, row); err != nil {
		return "", model.Token{}, fmt.Errorf("keep token: %w", err)
	}
	return text, model.Token{
		ID: row.ID, OwnerID: row.OwnerID, Name: row.Name, Hash: row.Hash,
		Scopes: row.Scopes, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, Kind: kind, CreatedBy: row.CreatedBy,
	}, nil
}

func (in TokenIn) faults(now coltype.Time) (items []fault.Item) {
	if in.Name == "" || len(in.Name) > tokenNameSize {
		items = append(items, fault.Item{Pointer: "/name", Detail: "must be 1 to 255 bytes"})
	} else if detail := NameFault(in.Name); detail != "" {
		items = append(items, fault.Item{Pointer: "/name", Detail: detail})
	}
	if len(in.Scopes) == 0 {
		items = append(items, fault.Item{Pointer: "/scopes", Detail: "must name at least one scope"})
	}
	if !in.ExpiresAt.IsZero() && !in.ExpiresAt.After(now) {
		items = append(items, fault.Item{Pointer: "/expires_at", Detail: "must lie in the future"})
	}
	return items
}

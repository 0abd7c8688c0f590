package control

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// maker is the token or session that makes another, or a link. What is made has no
// scope that its maker lacks, and ends no later. The zero maker is the command line
// on the database itself: it may make anything.
type maker struct {
	id     string
	scopes []string
	end    coltype.Time // zero: never
}

// hold is the maker of that id; "" is the command line. Until the transaction ends
// nobody can revoke it, so whoever does finds what was made. One that is not valid
// any more, whatever a cached verdict says, is a 401.
func hold(ctx context.Context, q model.Querier, now coltype.Time, ownerID, tokenID string) (maker, error) {
	if tokenID == "" {
		return maker{}, nil
	}
	row, err := q.TokenHold(ctx, model.TokenHoldParams{ID: tokenID, OwnerID: ownerID, Now: now})
	if store.NotFound(err) {
		return maker{}, fault.Unauthorized()
	}
	if err != nil {
		return maker{}, fmt.Errorf("hold %s: %w", tokenID, err)
	}
	m := maker{id: row.ID, end: row.ExpiresAt}
	if m.scopes, err = scopesOf(row.Scopes); err != nil {
		return maker{}, fmt.Errorf("read scopes of token %s: %w", tokenID, err)
	}
	return m, nil
}

// allows is nil if the maker has the scopes, else a 403 that names those it lacks.
func (m maker) allows(scopes []string) error {
	if m.id == "" {
		return nil
	}
	return Principal{Scopes: m.scopes}.Covers(scopes)
}

// until is when something ends that is to end at wanted (zero: never).
func (m maker) until(wanted coltype.Time) coltype.Time {
	if m.end.IsZero() || !wanted.IsZero() && wanted.Before(m.end) {
		return wanted
	}
	return m.end
}

// createdBy is the maker as a row keeps it.
func (m maker) createdBy() *string {
	if m.id == "" {
		return nil
	}
	return &m.id
}

// scopesText is a set of scopes as a row keeps it.
func scopesText(scopes []string) (coltype.JSON, error) {
	text, err := json.Marshal(slices.Compact(slices.Sorted(slices.Values(scopes))))
	return text, err
}

func scopesOf(text coltype.JSON) (scopes []string, err error) {
	err = json.Unmarshal(text, &scopes)
	return scopes, err
}

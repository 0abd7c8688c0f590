package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/store"
)

// tokenRow is a token as the API lists it.
type tokenRow struct {
	ID         string       `json:"id"`
	Kind       string       `json:"kind"`
	Name       string       `json:"name"`
	Scopes     coltype.JSON `json:"scopes"`
	CreatedAt  coltype.Time `json:"created_at"`
	ExpiresAt  coltype.Time `json:"expires_at"`
	LastUsedAt coltype.Time `json:"last_used_at"`
	RevokedAt  coltype.Time `json:"revoked_at"`
	CreatedBy  *string      `json:"created_by"`
}

func tokenRowOf(t model.Token) any {
	return tokenRow{t.ID, t.Kind, t.Name, t.Scopes, t.CreatedAt, t.ExpiresAt, t.LastUsedAt, t.RevokedAt, t.CreatedBy}
}

// linkRow is a login link as the API lists it.
type linkRow struct {
	ID             string       `json:"id"`
	Name           string       `json:"name"`
	Scopes         coltype.JSON `json:"scopes"`
	SessionSeconds int64        `json:"session_seconds"`
	CreatedAt      coltype.Time `json:"created_at"`
	ExpiresAt      coltype.Time `json:"expires_at"`
	UsedAt         coltype.Time `json:"used_at"`
	RevokedAt      coltype.Time `json:"revoked_at"`
	CreatedBy      *string      `json:"created_by"`
}

func linkRowOf(l model.LoginLink) any {
	return linkRow{control.LinkID(l), l.Name, l.Scopes, l.SessionSeconds, l.CreatedAt, l.ExpiresAt, l.UsedAt, l.RevokedAt, l.CreatedBy}
}

// ownerOf finds an owner by name; "" is the default one.
func ownerOf(ctx context.Context, q model.Reader, name string) (model.Owner, error) {
	if name == "" {
		name = defaultOwner
	}
	owner, found, err := control.FindOwner(ctx, q, name)
	if err == nil && !found {
		err = &exitError{exitNotFound, fmt.Errorf("there is no owner %q", name)}
	}
	return owner, err
}

// withOwner opens the database for what is done to an owner's rows.
func (g *globals) withOwner(ctx context.Context, name string, do func(s *store.Store, owner model.Owner) error) error {
	s, err := g.openMigrated(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	owner, err := ownerOf(ctx, s, name)
	if err != nil {
		return err
	}
	return do(s, owner)
}

// listOnDatabase reads limit rows (0: all) of an owner's list, as the API shows them.
func listOnDatabase[Row any](g *globals, owner string, list keyset.List[model.Reader, string, Row, Row], show func(Row) any) func(context.Context, int64) (page, error) {
	return func(ctx context.Context, limit int64) (page, error) {
		all := page{Data: []json.RawMessage{}}
		if limit == 0 {
			limit = 1 << 30
		}
		err := g.withOwner(ctx, owner, func(s *store.Store, of model.Owner) error {
			rows, next, err := list.Page(ctx, s, of.ID, keyset.Top(), int(limit))
			if err != nil {
				return err
			}
			all.HasMore = next != nil
			for _, row := range rows {
				raw, err := json.Marshal(show(row))
				if err != nil {
					return err
				}
				all.Data = append(all.Data, raw)
			}
			return nil
		})
		return all, err
	}
}

// revokeOnDatabase ends something of an owner in one transaction. The command line
// may end whatever it names.
func (g *globals) revokeOnDatabase(ctx context.Context, owner string, in control.RevokeIn, revoke func(ctx context.Context, q model.Querier, now coltype.Time, in control.RevokeIn) error) error {
	return g.withOwner(ctx, owner, func(s *store.Store, of model.Owner) error {
		in.OwnerID, in.Scopes = of.ID, []string{control.ScopeAdmin}
		return s.Tx(ctx, func(q model.Querier) error {
			now, err := s.TxTime()
			if err != nil {
				return err
			}
			return revoke(ctx, q, now, in)
		})
	})
}

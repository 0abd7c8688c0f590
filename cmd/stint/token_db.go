package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// openMigrated opens the database of the flags for a command that works on it
// beside, or before, any server. It makes and migrates nothing.
func (g *globals) openMigrated(ctx context.Context) (*store.Store, error) {
	engine, err := store.EngineOf(g.DB)
	if err != nil {
		return nil, usage(err)
	}
	named := store.Redact(g.DB)
	if engine == store.SQLite {
		path, err := store.SQLitePath(g.DB)
		if err != nil {
			return nil, usage(err)
		}
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("there is no file %s; name the database with --db, or make it with stint migrate up --db %s", path, named)
		}
	}
	s, err := store.Open(ctx, store.Config{URL: g.DB, MaxConns: 2})
	if err != nil {
		return nil, databaseError(err)
	}
	gap, err := s.Gap(ctx)
	if why := store.Rejected(err); why != nil {
		err = fmt.Errorf("the database %s lets nobody in by this role and credentials: %w", named, why)
	}
	if refusal := schema.Refusal(err); refusal != nil {
		err = fmt.Errorf("the database %s is refused: %w", named, refusal)
	}
	if err == nil && len(gap.Pending) > 0 {
		err = fmt.Errorf("the database %s is not at this build's schema: run stint migrate up --db %s first", named, named)
	}
	if err != nil {
		s.Close()
		return nil, databaseError(err)
	}
	return s, nil
}

const defaultOwner = "default"

func (g *globals) makeOnDatabase(ctx context.Context, in tokenIn) (madeToken, error) {
	scopes, err := web.ParseScopes("/scopes", in.scopes)
	if err != nil {
		return madeToken{}, err
	}
	if in.owner == "" {
		in.owner = defaultOwner
	}
	s, err := g.openMigrated(ctx)
	if err != nil {
		return madeToken{}, err
	}
	defer s.Close()
	made := madeToken{Owner: in.owner, Scopes: scopes}
	err = s.Tx(ctx, func(q model.Querier) error {
		now, err := s.Time(ctx)
		if err != nil {
			return err
		}
		owner, _, err := control.CreateOwner(ctx, q, now, in.owner)
		if err != nil {
			return err
		}
		token := control.TokenIn{OwnerID: owner.ID, Name: in.name, Scopes: scopes}
		if in.expiresIn != 0 {
			token.ExpiresAt = now.Add(in.expiresIn)
			made.ExpiresAt = &token.ExpiresAt.Time
		}
		var row model.Token
		made.Token, row, err = control.Issue(ctx, q, now, token)
		made.ID = row.ID
		return err
	})
	return made, err
}

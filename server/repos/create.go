package repos

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/store"
)

// ProposalIn is a proposal to open. Actor is recorded as who opened it.
type ProposalIn struct {
	OwnerID string
	RepoID  string
	Stream  string
	Head    string
	Base    *string
	Title   string
	Body    *string
	Author  string
	URL     *string
	RunID   *string // need not be known: runs are swept, and may come later
	Actor   string
}

// Created is a proposal, and whether it was open before.
type Created struct {
	Proposal     model.Proposal
	Deduplicated bool
}

// Create opens a proposal, or returns the open one of that repository, stream
// and head, which stays as it is.
func Create(ctx context.Context, q model.Querier, now coltype.Time, in ProposalIn) (Created, error) {
	if err := known(ctx, q, in.OwnerID, in.RepoID); err != nil {
		return Created{}, err
	}
	params := model.ProposalInsertParams{
		ID: id.New("prop"), OwnerID: in.OwnerID, RepoID: in.RepoID, Stream: in.Stream, Head: in.Head, Base: in.Base,
		Title: in.Title, Body: in.Body, Author: in.Author, Url: in.URL, RunID: in.RunID, CreatedAt: now,
	}
	n, err := q.ProposalInsert(ctx, params)
	if err != nil {
		return Created{}, fmt.Errorf("open a proposal: %w", err)
	}
	if n > 0 {
		if err := record(ctx, q, in.Actor, nil, opened(params)); err != nil {
			return Created{}, err
		}
	}
	open, err := q.ProposalGetOpen(ctx, model.ProposalGetOpenParams{OwnerID: in.OwnerID, RepoID: in.RepoID, Stream: in.Stream, Head: in.Head})
	if store.NotFound(err) {
		return Created{}, fmt.Errorf("the open proposal was closed meanwhile: %w", store.ErrRerun)
	}
	if err != nil {
		return Created{}, fmt.Errorf("look up the open proposal: %w", err)
	}
	return Created{Proposal: open, Deduplicated: n == 0}, nil
}

// opened is what record needs of a proposal that was just opened.
func opened(p model.ProposalInsertParams) model.Proposal {
	return model.Proposal{ID: p.ID, OwnerID: p.OwnerID, State: Open, Version: 1, UpdatedAt: p.CreatedAt}
}

// record keeps that a proposal came into its present state; from is nil for a
// new one.
func record(ctx context.Context, q model.Querier, actor string, from *string, p model.Proposal) error {
	err := q.TransitionInsert(ctx, model.TransitionInsertParams{
		OwnerID: p.OwnerID, ProposalID: p.ID, Version: p.Version, FromState: from, ToState: p.State,
		Actor: actor, EnteredAt: p.UpdatedAt,
	})
	if err != nil {
		return fmt.Errorf("keep the transition of %s: %w", p.ID, err)
	}
	return nil
}

package repos

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// MoveIn brings one proposal into another state. Match refuses a version that
// the caller has not seen. Actor is recorded.
type MoveIn struct {
	OwnerID string
	ID      string
	To      string
	Actor   string
	Match   func(version int64) error
}

// enteredFrom is the one state from which each state is entered.
var enteredFrom = map[string]string{Merged: Open, Closed: Open, Open: Closed}

// Move merges, closes or reopens a proposal. Its version is looked at first:
// what the caller has not seen, it cannot judge. A state that forbids the
// transition is state_conflict; reopening beside an open proposal of the same
// stream and head is key_in_use.
func Move(ctx context.Context, q model.Querier, now coltype.Time, in MoveIn) (model.Proposal, error) {
	p, err := q.ProposalLock(ctx, model.ProposalLockParams{ID: in.ID, OwnerID: in.OwnerID})
	if store.NotFound(err) {
		return model.Proposal{}, fault.NotFound()
	}
	if err != nil {
		return model.Proposal{}, fmt.Errorf("lock %s: %w", in.ID, err)
	}
	if err := in.allowed(ctx, q, p); err != nil {
		return model.Proposal{}, err
	}
	set := model.ProposalMoveParams{
		ID: p.ID, OwnerID: p.OwnerID, FromState: p.State, ExpectedVersion: p.Version,
		ToState: in.To, UpdatedAt: coltype.Later(now, p.UpdatedAt),
	}
	if in.To != Open {
		set.ClosedAt = set.UpdatedAt
	}
	// A proposal that takes the head between the look and the update makes the
	// update a unique violation; store.Tx then runs the operation again.
	moved, err := q.ProposalMove(ctx, set)
	if err != nil {
		return model.Proposal{}, fmt.Errorf("bring %s from %s to %s: %w", p.ID, p.State, in.To, err)
	}
	return moved, record(ctx, q, in.Actor, &p.State, moved)
}

// allowed is why p may not be moved, in the order in which that is checked.
func (in MoveIn) allowed(ctx context.Context, q model.Reader, p model.Proposal) error {
	if err := in.Match(p.Version); err != nil {
		return err
	}
	if p.State != enteredFrom[in.To] {
		return fault.ProposalConflict(p.ID, p.State)
	}
	if in.To != Open {
		return nil
	}
	open, err := q.ProposalGetOpen(ctx, model.ProposalGetOpenParams{OwnerID: p.OwnerID, RepoID: p.RepoID, Stream: p.Stream, Head: p.Head})
	if store.NotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up the open proposal: %w", err)
	}
	return fault.HeadInUse(open.ID, open.State)
}

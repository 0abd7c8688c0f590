package repos

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/keyset"
)

// ProposalsIn selects the proposals of one repository, newest first. An empty
// member does not filter. Author, else State and Stream alone or together, leads
// an index; State and Stream beside Author are residual: they filter within the
// author's proposals (keyset.Walk).
type ProposalsIn struct {
	OwnerID string
	RepoID  string
	State   string
	Stream  string
	Author  string
	Before  keyset.Position
	Limit   int
}

// ListProposals is one page; next is nil on the last one. It runs at most two
// statements. The first looks for the repository, too, so that another owner's
// shows nothing; only an empty page asks for it once more, to tell not_found.
func ListProposals(ctx context.Context, q model.Reader, in ProposalsIn) (page []model.Proposal, next *keyset.Position, err error) {
	read := 0
	if in.residual() {
		var walk []model.ProposalWalkByAuthorRow
		if walk, err = in.walk(ctx, q); err == nil {
			read = len(walk)
			page, next, err = in.filtered(ctx, q, walk)
		}
	} else {
		var rows []model.Proposal
		rows, err = in.page(ctx, q, int64(in.Limit)+1)
		read = len(rows)
		page, next = keyset.Cut(rows, in.Limit, position)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list proposals: %w", err)
	}
	if read == 0 {
		err = known(ctx, q, in.OwnerID, in.RepoID)
	}
	return page, next, err
}

func (in ProposalsIn) residual() bool {
	return in.Author != "" && (in.State != "" || in.Stream != "")
}

// keep is the whole filter but the author, whom a walk holds to and no proposal
// changes.
func (in ProposalsIn) keep(e model.ProposalWalkByAuthorRow) bool {
	return (in.State == "" || e.State == in.State) && (in.Stream == "" || e.Stream == in.Stream)
}

// filtered is the page along a walk.
func (in ProposalsIn) filtered(ctx context.Context, q model.Reader, walk []model.ProposalWalkByAuthorRow) ([]model.Proposal, *keyset.Position, error) {
	return keyset.Filter[model.ProposalWalkByAuthorRow, model.Proposal]{
		Keep: in.keep,
		At: func(e model.ProposalWalkByAuthorRow) keyset.Position {
			return keyset.Position{At: e.CreatedAt, ID: e.ID}
		},
		Rows: func(ids string) ([]model.Proposal, error) {
			return q.ProposalListByIDs(ctx, model.ProposalListByIDsParams{OwnerID: in.OwnerID, Ids: ids})
		},
		Entry: func(p model.Proposal) model.ProposalWalkByAuthorRow {
			return model.ProposalWalkByAuthorRow{ID: p.ID, State: p.State, Stream: p.Stream, CreatedAt: p.CreatedAt}
		},
	}.Page(walk, in.Limit)
}

// page reads max proposals along the index that the filter leads with.
func (in ProposalsIn) page(ctx context.Context, q model.Reader, max int64) ([]model.Proposal, error) {
	at := model.ProposalPageByStateStreamParams{
		OwnerID: in.OwnerID, RepoID: in.RepoID, State: in.State, Stream: in.Stream,
		BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: max,
	}
	switch {
	case in.Author != "":
		return q.ProposalPageByAuthor(ctx, model.ProposalPageByAuthorParams{
			OwnerID: at.OwnerID, RepoID: at.RepoID, Author: in.Author, BeforeAt: at.BeforeAt, BeforeID: at.BeforeID, Max: max,
		})
	case in.State != "" && in.Stream != "":
		return q.ProposalPageByStateStream(ctx, at)
	case in.State != "":
		return q.ProposalPageByState(ctx, model.ProposalPageByStateParams{
			OwnerID: at.OwnerID, RepoID: at.RepoID, State: at.State, BeforeAt: at.BeforeAt, BeforeID: at.BeforeID, Max: max,
		})
	case in.Stream != "":
		return q.ProposalPageByStream(ctx, model.ProposalPageByStreamParams{
			OwnerID: at.OwnerID, RepoID: at.RepoID, Stream: at.Stream, BeforeAt: at.BeforeAt, BeforeID: at.BeforeID, Max: max,
		})
	}
	return q.ProposalPage(ctx, model.ProposalPageParams{
		OwnerID: at.OwnerID, RepoID: at.RepoID, BeforeAt: at.BeforeAt, BeforeID: at.BeforeID, Max: max,
	})
}

// walk reads keyset.Walk entries of the author's index.
func (in ProposalsIn) walk(ctx context.Context, q model.Reader) ([]model.ProposalWalkByAuthorRow, error) {
	return q.ProposalWalkByAuthor(ctx, model.ProposalWalkByAuthorParams{
		OwnerID: in.OwnerID, RepoID: in.RepoID, Author: in.Author,
		BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: keyset.Walk,
	})
}

func position(p model.Proposal) keyset.Position { return keyset.Position{At: p.CreatedAt, ID: p.ID} }

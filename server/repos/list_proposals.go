package repos

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/keyset"
)

// ProposalsIn selects the proposals of one repository. An empty member does not
// filter.
type ProposalsIn struct {
	OwnerID string
	RepoID  string
	State   string
	Stream  string
	Author  string
}

var (
	byAuthor = keyset.Leading[model.ProposalWalkByAuthorRow](func(in ProposalsIn) string { return in.Author }) // no proposal changes its author
	byState  = keyset.Equal(func(in ProposalsIn) string { return in.State }, func(e model.ProposalWalkByAuthorRow) string { return e.State })
	byStream = keyset.Equal(func(in ProposalsIn) string { return in.Stream }, func(e model.ProposalWalkByAuthorRow) string { return e.Stream })
)

// Proposals is the proposals of a repository, newest first. Its statements look
// for the repository, too, so that another owner's shows nothing; known tells
// that apart from an empty list.
var Proposals = keyset.List[model.Reader, ProposalsIn, model.Proposal, model.ProposalWalkByAuthorRow]{
	Name:    "proposals",
	Filters: keyset.Filters(byAuthor, byState, byStream),
	Leads: []keyset.Lead[model.Reader, ProposalsIn, model.Proposal, model.ProposalWalkByAuthorRow]{
		{By: keyset.Filters(byAuthor), Page: keyset.Statement(ofAuthor, model.Reader.ProposalPageByAuthor), Walk: keyset.Statement(ofAuthor, model.Reader.ProposalWalkByAuthor)},
		{By: keyset.Filters(byState, byStream), Page: keyset.Statement(ofStateStream, model.Reader.ProposalPageByStateStream)},
		{By: keyset.Filters(byState), Page: keyset.Statement(ofState, model.Reader.ProposalPageByState)},
		{By: keyset.Filters(byStream), Page: keyset.Statement(ofStream, model.Reader.ProposalPageByStream)},
		{Page: keyset.Statement(ofRepo, model.Reader.ProposalPage)},
	},
	At: func(e model.ProposalWalkByAuthorRow) keyset.Position {
		return keyset.Position{At: e.CreatedAt, ID: e.ID}
	},
	Entry: func(p model.Proposal) model.ProposalWalkByAuthorRow {
		return model.ProposalWalkByAuthorRow{ID: p.ID, State: p.State, Stream: p.Stream, CreatedAt: p.CreatedAt}
	},
	ByIDs: func(ctx context.Context, q model.Reader, in ProposalsIn, ids string) ([]model.Proposal, error) {
		return q.ProposalListByIDs(ctx, model.ProposalListByIDsParams{OwnerID: in.OwnerID, Ids: ids})
	},
	Parent: func(ctx context.Context, q model.Reader, in ProposalsIn) error {
		return known(ctx, q, in.OwnerID, in.RepoID)
	},
}

func ofAuthor(in ProposalsIn, from keyset.Position, max int64) model.ProposalPageByAuthorParams {
	return model.ProposalPageByAuthorParams{OwnerID: in.OwnerID, RepoID: in.RepoID, Author: in.Author, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

func ofStateStream(in ProposalsIn, from keyset.Position, max int64) model.ProposalPageByStateStreamParams {
	return model.ProposalPageByStateStreamParams{
		OwnerID: in.OwnerID, RepoID: in.RepoID, State: in.State, Stream: in.Stream, BeforeAt: from.At, BeforeID: from.ID, Max: max,
	}
}

func ofState(in ProposalsIn, from keyset.Position, max int64) model.ProposalPageByStateParams {
	return model.ProposalPageByStateParams{OwnerID: in.OwnerID, RepoID: in.RepoID, State: in.State, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

func ofStream(in ProposalsIn, from keyset.Position, max int64) model.ProposalPageByStreamParams {
	return model.ProposalPageByStreamParams{OwnerID: in.OwnerID, RepoID: in.RepoID, Stream: in.Stream, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

func ofRepo(in ProposalsIn, from keyset.Position, max int64) model.ProposalPageParams {
	return model.ProposalPageParams{OwnerID: in.OwnerID, RepoID: in.RepoID, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

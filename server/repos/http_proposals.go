package repos

import (
	"context"
	"net/http"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/web"
)

// proposalBody is a proposal to open.
type proposalBody struct {
	Stream string    `json:"stream" minLength:"1" doc:"What the change is to go into, such as a branch."`
	Head   string    `json:"head" minLength:"1" doc:"What holds the change, such as a branch."`
	Base   *string   `json:"base,omitempty" minLength:"1" doc:"What the change was made from, such as a commit."`
	Title  web.Name  `json:"title" minLength:"1" maxLength:"512"`
	Body   *string   `json:"body,omitempty" maxLength:"65536" doc:"Up to 64 KiB."`
	Author *web.Name `json:"author,omitempty" minLength:"1" doc:"Absent: the token's name."`
	URL    *string   `json:"url,omitempty" minLength:"1" doc:"Where people look at it: http or https."`
	RunID  *string   `json:"run_id,omitempty" minLength:"1" doc:"The run that made it. It need not be known yet, or any more."`
}

type createInput struct {
	Repo string `path:"repo"`
	Body proposalBody
}

// Faults are those that a schema cannot tell.
func (in *createInput) Faults() (faults []fault.Item) {
	b := in.Body
	faults = append(faults, unclear("/stream", &b.Stream)...)
	faults = append(faults, unclear("/head", &b.Head)...)
	faults = append(faults, unclear("/base", b.Base)...)
	faults = append(faults, unlinkable("/url", b.URL)...)
	return append(faults, overlong("/body", b.Body)...)
}

// createdJSON answers a proposal.
type createdJSON struct {
	Proposal     proposalJSON `json:"proposal"`
	Deduplicated bool         `json:"deduplicated" doc:"One of that stream and head was open: proposal is that one."`
}

func create(ctx context.Context, q model.Querier, now coltype.Time, in *createInput) (web.Answer[createdJSON], error) {
	caller, b := web.Caller(ctx), in.Body
	author := caller.TokenName
	if b.Author != nil {
		author = string(*b.Author)
	}
	got, err := Create(ctx, q, now, ProposalIn{
		OwnerID: caller.OwnerID, RepoID: in.Repo, Stream: b.Stream, Head: b.Head, Base: b.Base, Title: string(b.Title),
		Body: b.Body, Author: author, URL: b.URL, RunID: b.RunID, Actor: caller.TokenName,
	})
	if err != nil {
		return web.Answer[createdJSON]{}, err
	}
	out := web.Answer[createdJSON]{
		Body: createdJSON{Proposal: proposalJSONOf(got.Proposal), Deduplicated: got.Deduplicated},
		ETag: web.ETag(got.Proposal.Version),
	}
	if got.Deduplicated {
		out.Status = http.StatusOK
	}
	return out, nil
}

type proposalsInput struct {
	web.PageQuery
	Repo   string `path:"repo"`
	State  string `query:"state" enum:"open,merged,closed"`
	Stream string `query:"stream"`
	Author string `query:"author" doc:"With state or stream, a page looks at 2,000 proposals of the author."`
}

var listedProposals = web.ListOf[proposalsInput, model.Proposal, proposalJSON]{
	Kind: "proposals", Order: web.Newest, Item: listedOf,
	Page: web.PageOf(Proposals, func(ownerID string, in *proposalsInput) ProposalsIn {
		return ProposalsIn{OwnerID: ownerID, RepoID: in.Repo, State: in.State, Stream: in.Stream, Author: in.Author}
	}),
}

type proposalInput struct {
	ID string `path:"id"`
}

func getProposal(ctx context.Context, q model.Reader, now coltype.Time, in *proposalInput) (*proposalDetailJSON, error) {
	detail, err := GetProposal(ctx, q, now, web.Caller(ctx).OwnerID, in.ID)
	if err != nil {
		return nil, err
	}
	return detailOf(detail), nil
}

type moveInput struct {
	web.IfMatch
	ID string `path:"id"`
}

// movedJSON is a proposal after a transition.
type movedJSON struct {
	Proposal proposalJSON `json:"proposal"`
}

// moveTo handles the route that brings a proposal into that state.
func moveTo(state string) func(context.Context, model.Querier, coltype.Time, *moveInput) (web.Answer[movedJSON], error) {
	return func(ctx context.Context, q model.Querier, now coltype.Time, in *moveInput) (web.Answer[movedJSON], error) {
		caller := web.Caller(ctx)
		p, err := Move(ctx, q, now, MoveIn{OwnerID: caller.OwnerID, ID: in.ID, To: state, Actor: caller.TokenName, Match: in.Require})
		return web.Answer[movedJSON]{Body: movedJSON{Proposal: proposalJSONOf(p)}, ETag: web.ETag(p.Version)}, err
	}
}

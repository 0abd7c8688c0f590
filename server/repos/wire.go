package repos

import (
	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

// proposalJSON is a proposal as clients see it.
type proposalJSON struct {
	ID        string       `json:"id"`
	RepoID    string       `json:"repo_id"`
	Stream    string       `json:"stream"`
	Head      string       `json:"head"`
	Base      *string      `json:"base" nullable:"true"`
	Title     string       `json:"title"`
	Body      *string      `json:"body" nullable:"true"`
	Author    string       `json:"author"`
	State     string       `json:"state" enum:"open,merged,closed"`
	URL       *string      `json:"url" nullable:"true" doc:"http or https."`
	RunID     *string      `json:"run_id" nullable:"true"`
	Version   int64        `json:"version" doc:"1 at first, and one more with every transition."`
	CreatedAt coltype.Time `json:"created_at"`
	UpdatedAt coltype.Time `json:"updated_at"`
	ClosedAt  coltype.Time `json:"closed_at" nullable:"true" doc:"When it was merged or closed."`
	Omitted   []string     `json:"omitted" doc:"Members over 4 KiB that a list leaves out."`
}

func proposalJSONOf(p model.Proposal) proposalJSON {
	return proposalJSON{
		ID: p.ID, RepoID: p.RepoID, Stream: p.Stream, Head: p.Head, Base: p.Base, Title: p.Title, Body: p.Body,
		Author: p.Author, State: p.State, URL: p.Url, RunID: p.RunID, Version: p.Version,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, ClosedAt: p.ClosedAt, Omitted: []string{},
	}
}

// listedOf is a proposal within a list: a large body is left out and named.
func listedOf(p model.Proposal, _ coltype.Time) proposalJSON {
	out := proposalJSONOf(p)
	out.Omitted = web.Omit(web.TextMember("body", &out.Body))
	return out
}

// transitionJSON is a state that a proposal came into.
type transitionJSON struct {
	Version   int64        `json:"version" doc:"The proposal's version from then on."`
	FromState *string      `json:"from_state" nullable:"true" enum:"open,merged,closed" doc:"null: it was opened."`
	ToState   string       `json:"to_state" enum:"open,merged,closed"`
	Actor     string       `json:"actor" doc:"The name of the token that did it."`
	EnteredAt coltype.Time `json:"entered_at"`
}

// proposalRunJSON is the run behind a proposal.
type proposalRunJSON struct {
	ID       string  `json:"id"`
	Kind     string  `json:"kind" enum:"job,scheduled,manual,browser,webhook"`
	Status   string  `json:"status" enum:"in_progress,succeeded,succeeded_with_gaps,failed,cancelled,abandoned,skipped" doc:"As /v1/runs shows it."`
	JobID    *string `json:"job_id" nullable:"true"`
	JobState *string `json:"job_state" nullable:"true" enum:"pending,claimed,succeeded,failed,cancelled" doc:"null: no job, or it is gone."`
}

// proposalDetailJSON is a proposal with its past and the run behind it.
type proposalDetailJSON struct {
	proposalJSON
	Run         *proposalRunJSON `json:"run" doc:"null: none was named, or it is not known."`
	Transitions []transitionJSON `json:"transitions" doc:"The latest 50, the latest first; version tells how many there were."`
}

func detailOf(d Detail) *proposalDetailJSON {
	out := &proposalDetailJSON{proposalJSON: proposalJSONOf(d.Proposal)}
	if d.Run != nil {
		run := proposalRunJSON(*d.Run)
		out.Run = &run
	}
	out.Transitions = keyset.Convert(d.Transitions, func(t model.ProposalTransition) transitionJSON {
		return transitionJSON{Version: t.Version, FromState: t.FromState, ToState: t.ToState, Actor: t.Actor, EnteredAt: t.EnteredAt}
	})
	return out
}

// ETag is of the version, and of what is shown of the run: that changes on its
// own.
func (p proposalDetailJSON) ETag() string {
	if p.Run == nil {
		return web.ETag(p.Version)
	}
	state := ""
	if p.Run.JobState != nil {
		state = *p.Run.JobState
	}
	return web.ETagWith(p.Version, p.Run.Status, state)
}

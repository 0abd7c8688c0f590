package repos

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// States of a proposal (constraint proposals_state_check).
const (
	Open   = "open"
	Merged = "merged"
	Closed = "closed"
)

// States are all of them.
var States = []string{Open, Merged, Closed}

// maxTransitions is how many of its transitions a proposal is shown with, the
// latest ones. Its version is how many it had.
const maxTransitions = 50

// Detail is a proposal with its latest transitions, the latest first, and the
// run behind it.
type Detail struct {
	model.Proposal
	Transitions []model.ProposalTransition
	Run         *RunBehind // nil: none, gone, or not the owner's
}

// RunBehind is the run that a proposal came from.
type RunBehind struct {
	ID       string
	Kind     string
	Status   string // as people see it: runs.Shown
	JobID    *string
	JobState *string // nil: no job, or it is gone
}

// maxCountedRepos is how many repositories of an owner CountOpen looks at.
const maxCountedRepos = 2000

// CountOpen counts an owner's open proposals, in up to 2,000 repositories.
func CountOpen(ctx context.Context, q model.Reader, ownerID string) (web.Count, error) {
	n, err := q.ProposalCountOpen(ctx, model.ProposalCountOpenParams{OwnerID: ownerID, MaxRepos: maxCountedRepos, Max: web.MaxCount + 1})
	if err != nil {
		return web.Count{}, fmt.Errorf("count open proposals: %w", err)
	}
	return web.Counted(n), nil
}

// GetProposal is one proposal of an owner.
func GetProposal(ctx context.Context, q model.Reader, now coltype.Time, ownerID, proposalID string) (Detail, error) {
	row, err := q.ProposalGet(ctx, model.ProposalGetParams{ID: proposalID, OwnerID: ownerID})
	if store.NotFound(err) {
		return Detail{}, fault.NotFound()
	}
	if err != nil {
		return Detail{}, fmt.Errorf("get %s: %w", proposalID, err)
	}
	// A transition that is committed between the two statements is left out: what
	// is shown, and named by the ETag, is one version.
	transitions, err := q.TransitionList(ctx, model.TransitionListParams{OwnerID: ownerID, ProposalID: proposalID, UpTo: row.Proposal.Version, Max: maxTransitions})
	if err != nil {
		return Detail{}, fmt.Errorf("list the transitions of %s: %w", proposalID, err)
	}
	return Detail{Proposal: row.Proposal, Transitions: transitions, Run: runBehind(row, now)}, nil
}

func runBehind(r model.ProposalGetRow, now coltype.Time) *RunBehind {
	if r.RunStatus == nil {
		return nil
	}
	run := runs.Run{Status: *r.RunStatus, JobID: r.RunJobID, JobState: r.JobState, JobLeaseExpiresAt: r.JobLeaseExpiresAt, LeaseExpiresAt: r.RunLeaseExpiresAt}
	return &RunBehind{ID: *r.Proposal.RunID, Kind: *r.RunKind, Status: runs.Shown(run, now), JobID: r.RunJobID, JobState: r.JobState}
}

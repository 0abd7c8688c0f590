package ops

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/web"
)

const (
	// sinceDefault and sinceMost are how far back an overview looks for failures.
	sinceDefault = 24 * time.Hour
	sinceMost    = 90 * 24 * time.Hour

	// maxTroubled is among how many failed, and how many claimed jobs of an owner,
	// the newest, an overview counts; maxRepos in how many repos.
	maxTroubled = 2000
	maxRepos    = 2000
)

type overviewInput struct {
	Since coltype.Time `query:"since" doc:"Failures from then on, at most 90 days ago. Absent: of the last 24 hours."`
}

// overviewJSON is what needs a person.
type overviewJSON struct {
	Since         coltype.Time `json:"since"`
	Failed        web.Count    `json:"failed" doc:"Jobs that ended failed since, among the 2,000 newest that failed."`
	Overdue       web.Count    `json:"overdue" doc:"Claimed jobs whose lease ran out, among the 2,000 newest that are claimed."`
	OpenProposals web.Count    `json:"open_proposals" doc:"In up to 2,000 repos."`
}

func (h *routes) overview(ctx context.Context, q model.Reader, now coltype.Time, in *overviewInput) (*overviewJSON, error) {
	since, err := in.since(now)
	if err != nil {
		return nil, err
	}
	owner := web.Caller(ctx).OwnerID
	jobs, err := q.JobCountTroubled(ctx, model.JobCountTroubledParams{Since: since, OwnerID: owner, Max: maxTroubled, Now: now})
	if err != nil {
		return nil, fmt.Errorf("count jobs that need a person: %w", err)
	}
	open, err := q.ProposalCountOpen(ctx, model.ProposalCountOpenParams{OwnerID: owner, MaxRepos: maxRepos, Max: web.MaxCount + 1})
	if err != nil {
		return nil, fmt.Errorf("count open proposals: %w", err)
	}
	return &overviewJSON{
		Since: since, OpenProposals: web.Counted(open),
		Failed:  amongNewest(jobs.Failed, jobs.FailedWalked),
		Overdue: amongNewest(jobs.Overdue, jobs.OverdueWalked),
	}, nil
}

// amongNewest is the count of rows that were found among the newest walked.
func amongNewest(found, walked int64) web.Count {
	c := web.Counted(found)
	c.AtLeast = c.AtLeast || walked == maxTroubled
	return c
}

// since is the beginning of what the overview looks at.
func (in *overviewInput) since(now coltype.Time) (coltype.Time, error) {
	switch {
	case in.Since.IsZero():
		return now.Add(-sinceDefault), nil
	case in.Since.After(now):
		return in.Since, badSince("lies in the future")
	case in.Since.Before(now.Add(-sinceMost)):
		return in.Since, badSince("is more than 90 days ago")
	}
	return in.Since, nil
}

func badSince(detail string) error {
	return fault.BadRequest(fault.Item{In: fault.InQuery, Pointer: "/since", Detail: detail})
}

package ops

import (
	"context"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/web"
)

const (
	// sinceDefault and sinceMost are how far back an overview looks for failures.
	sinceDefault = 24 * time.Hour
	sinceMost    = 90 * 24 * time.Hour
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
	failed, overdue, err := jobs.Troubled(ctx, q, now, owner, since)
	if err != nil {
		return nil, err
	}
	open, err := repos.CountOpen(ctx, q, owner)
	if err != nil {
		return nil, err
	}
	return &overviewJSON{Since: since, Failed: failed, Overdue: overdue, OpenProposals: open}, nil
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

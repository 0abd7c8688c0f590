package runs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// EndIn says how the running attempt of a job ended.
type EndIn struct {
	OwnerID  string
	JobID    string
	Status   string
	Reason   string // "" when the status says it all
	Error    coltype.JSON
	Warning  *string      // what the worker remarked
	Progress coltype.JSON // the last that its heartbeats told
}

// End ends the running attempt of a job, in the transaction that ends the
// claim.
func End(ctx context.Context, q model.Querier, now coltype.Time, in EndIn) (Run, error) {
	var reason *string
	if in.Reason != "" {
		reason = &in.Reason
	}
	row, err := q.RunEnd(ctx, model.RunEndParams{
		JobID: &in.JobID, OwnerID: in.OwnerID,
		Status: in.Status, TerminalReason: reason, Error: in.Error, Warning: in.Warning, Progress: in.Progress, CompletedAt: now,
	})
	if err != nil {
		return Run{}, fmt.Errorf("end the run of %s: %w", in.JobID, err)
	}
	return ended(row), nil
}

// ByToken is the attempt of a job that held the lease of token.
func ByToken(ctx context.Context, q model.Reader, ownerID, jobID, token string) (Run, error) {
	hash := TokenHash(token)
	row, err := q.RunGetByToken(ctx, model.RunGetByTokenParams{OwnerID: ownerID, JobID: &jobID, TokenHash: &hash})
	if err != nil {
		return Run{}, err
	}
	return ended(row), nil
}

// ended is a run without a job beside it: one that ended shows no lease.
func ended(r model.RunEndRow) Run {
	return Run{
		ID: r.ID, OwnerID: r.OwnerID, Kind: r.Kind, ConnectionID: r.ConnectionID, JobID: r.JobID,
		ExternalRunID: r.ExternalRunID, Status: r.Status, Attempt: r.Attempt, Worker: r.Worker,
		Generation: r.Generation, TerminalReason: r.TerminalReason, Error: r.Error, Warning: r.Warning, Facts: r.Facts,
		Progress: r.Progress, SchedulerManaged: r.SchedulerManaged, Origin: r.Origin,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt, DeadlineAt: r.DeadlineAt,
	}
}

package runs

import (
	"context"
	"encoding/json"
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
		LeaseExpiresAt: r.LeaseExpiresAt,
	}
}

// Success says of a job that was completed how its running attempt ended.
type Success struct {
	JobID    string
	Warning  string       // what the worker remarked; "" is none
	Progress coltype.JSON // the last that its heartbeats told
	At       coltype.Time
}

// successRow is one member of RunSucceedMany's @rows.
type successRow struct {
	Warning     *string `json:"warning,omitempty"`
	Progress    *string `json:"progress,omitempty"`
	CompletedAt int64   `json:"completed_at"` // microseconds
}

func (s Success) row() successRow {
	row := successRow{CompletedAt: s.At.UnixMicro()}
	if s.Warning != "" {
		row.Warning = &s.Warning
	}
	if s.Progress != nil {
		text := string(s.Progress)
		row.Progress = &text
	}
	return row
}

// Succeed ends the running attempts of jobs of an owner, in the transaction that
// completes them, and returns the runs by job id.
func Succeed(ctx context.Context, q model.Querier, ownerID string, successes []Success) (map[string]Run, error) {
	if len(successes) == 0 {
		return nil, nil
	}
	rows := make(map[string]successRow, len(successes))
	for _, s := range successes {
		rows[s.JobID] = s.row()
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	done, err := q.RunSucceedMany(ctx, model.RunSucceedManyParams{OwnerID: ownerID, Rows: string(text)})
	if err != nil {
		return nil, fmt.Errorf("end %d runs: %w", len(rows), err)
	}
	if len(done) != len(rows) {
		return nil, fmt.Errorf("end %d runs: %d were running", len(rows), len(done))
	}
	out := make(map[string]Run, len(done))
	for _, row := range done {
		out[*row.JobID] = ended(row)
	}
	return out, nil
}

package jobs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
)

// duplicate is an enqueue whose key is live, under the live job's row lock. A
// pending job takes the members that are present; a claimed one is not touched,
// but what was asked is kept to run after it.
func duplicate(ctx context.Context, q model.Querier, now coltype.Time, live model.Job, in EnqueueIn) (Enqueued, error) {
	now = notBefore(live, now)
	switch {
	case live.Kind != in.Kind:
		return Enqueued{Err: fault.KeyInUse(live.ID, live.State)}, nil
	case in.Keep:
		return Enqueued{Job: live, Deduplicated: true}, nil
	case live.State == Claimed:
		job, err := keepAgain(ctx, q, now, live, in)
		return Enqueued{Job: job, Deduplicated: true, Again: true}, err
	default:
		job, err := replace(ctx, q, now, live, in)
		return Enqueued{Job: job, Deduplicated: true}, err
	}
}

// replace gives a pending job the members that are present. Its attempt stays,
// and only an explicit run_at moves it: a poller that enqueues again can
// neither push work back nor hammer a failing job.
func replace(ctx context.Context, q model.Querier, now coltype.Time, live model.Job, in EnqueueIn) (model.Job, error) {
	set := model.JobReplaceParams{
		ID: live.ID, OwnerID: live.OwnerID, UpdatedAt: now,
		Payload: live.Payload, Priority: live.Priority, RunAt: live.RunAt,
		MaxAttempts: live.MaxAttempts, TimeoutSeconds: live.TimeoutSeconds, Traceparent: live.Traceparent,
	}
	if in.Payload != nil {
		set.Payload = in.Payload
	}
	if in.Priority != nil {
		set.Priority = *in.Priority
	}
	if !in.RunAt.IsZero() {
		set.RunAt = orNow(in.RunAt, now)
	}
	if in.MaxAttempts != nil {
		// The attempt that is due stays due.
		set.MaxAttempts = max(*in.MaxAttempts, live.Attempt+1)
	}
	if in.Timeout != nil {
		set.TimeoutSeconds = in.Timeout
	}
	if in.Traceparent != nil {
		set.Traceparent = in.Traceparent
	}
	job, err := q.JobReplace(ctx, set)
	if err != nil {
		return model.Job{}, fmt.Errorf("replace members of %s: %w", live.ID, err)
	}
	return job, nil
}

// again is what a duplicate of a claimed job asked for: what the job's
// successor takes, or the job itself if it returns to pending.
type again struct {
	Payload        json.RawMessage `json:"payload"`
	Priority       int64           `json:"priority"`
	RunAt          *coltype.Time   `json:"run_at"` // nil: as soon as the claim has ended
	MaxAttempts    int64           `json:"max_attempts"`
	TimeoutSeconds *int64          `json:"timeout_seconds"`
	Traceparent    *string         `json:"traceparent"`
}

// keepAgain keeps what the item asks for; the last one wins. Members it lacks
// take the claimed job's values, and its run_at the moment the claim ends.
func keepAgain(ctx context.Context, q model.Querier, now coltype.Time, live model.Job, in EnqueueIn) (model.Job, error) {
	a := again{
		Payload: json.RawMessage(live.Payload), Priority: live.Priority,
		MaxAttempts: live.MaxAttempts, TimeoutSeconds: live.TimeoutSeconds, Traceparent: live.Traceparent,
	}
	if in.Payload != nil {
		a.Payload = json.RawMessage(in.Payload)
	}
	if in.Priority != nil {
		a.Priority = *in.Priority
	}
	if !in.RunAt.IsZero() {
		a.RunAt = &in.RunAt
	}
	if in.MaxAttempts != nil {
		a.MaxAttempts = *in.MaxAttempts
	}
	if in.Timeout != nil {
		a.TimeoutSeconds = in.Timeout
	}
	if in.Traceparent != nil {
		a.Traceparent = in.Traceparent
	}
	text, err := encode(a)
	if err != nil {
		return model.Job{}, err
	}
	job, err := q.JobSetAgain(ctx, model.JobSetAgainParams{
		ID: live.ID, OwnerID: live.OwnerID, LeaseToken: live.LeaseToken, Again: text, UpdatedAt: now,
	})
	if err != nil {
		return model.Job{}, fmt.Errorf("keep again of %s: %w", live.ID, err)
	}
	return job, nil
}

// successor is the job that follows one that has ended.
func (a again) successor(job model.Job, newID string, now coltype.Time) newJob {
	return newJob{
		ID: newID, Kind: job.Kind, Key: job.Key, RepoID: job.RepoID, IssueNumber: job.IssueNumber,
		Payload: string(a.Payload), Priority: a.Priority, RunAt: a.due(now).UnixMicro(),
		MaxAttempts: a.MaxAttempts, TimeoutSeconds: a.TimeoutSeconds, Follows: &job.ID, Traceparent: a.Traceparent,
	}
}

// due is when the successor may run.
func (a again) due(now coltype.Time) coltype.Time {
	if a.RunAt == nil {
		return now
	}
	return orNow(*a.RunAt, now)
}

package jobs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// The actions by which the holder of a lease ends its claim.
const (
	Complete = "complete"
	Fail     = "fail"
	Snooze   = "snooze"
	Release  = "release"
)

// FinishIn ends a claim by its holder.
type FinishIn struct {
	OwnerID    string
	ID         string
	LeaseToken string
	Action     string
	Warning    string // what the worker remarks; kept on the run

	Result     coltype.JSON // complete
	Error      coltype.JSON // fail: {code, message}
	Retryable  bool         // fail: false ends the job whatever attempts are left
	RetryAfter *int64       // fail: seconds instead of the kind's backoff
	Seconds    int64        // snooze
	Jitter     float64      // 0.8 to 1.2: the random part of a backoff
}

// Finish ends a claim. A lease that ran out but was not yet taken back still
// counts. The same action again by the lease's holder changes nothing and
// answers with the job as it stands; another action with that token is a
// state_conflict; any other stale token is lease_lost.
func Finish(ctx context.Context, q model.Querier, now coltype.Time, in FinishIn) (Outcome, error) {
	job, err := q.JobLock(ctx, model.JobLockParams{ID: in.ID, OwnerID: in.OwnerID})
	if store.NotFound(err) {
		return Outcome{}, fault.NotFound()
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("lock %s: %w", in.ID, err)
	}
	if job.State != Claimed || deref(job.LeaseToken) != in.LeaseToken {
		return repeated(ctx, q, job, in)
	}
	end, err := in.end(ctx, q, job, now)
	if err != nil {
		return Outcome{}, err
	}
	if in.Warning != "" {
		end.warning = &in.Warning
	}
	return settle(ctx, q, now, job, end)
}

// end works out how the action ends the claim of job.
func (in FinishIn) end(ctx context.Context, q model.Reader, job model.Job, now coltype.Time) (ending, error) {
	switch in.Action {
	case Complete:
		return completed(in.Result), nil
	case Fail:
		kind, err := kindOfJob(ctx, q, job)
		return in.failed(job, kind, now), err
	case Snooze:
		return givenBack(job, runs.ReasonSnoozed, now.Add(seconds(in.Seconds))), nil
	case Release:
		return givenBack(job, runs.ReasonReleased, now), nil
	}
	return ending{}, fmt.Errorf("finish %s: unknown action %q", in.ID, in.Action)
}

// repeated answers a finish whose token is not the present lease's.
func repeated(ctx context.Context, q model.Reader, job model.Job, in FinishIn) (Outcome, error) {
	run, err := runs.ByToken(ctx, q, job.OwnerID, job.ID, in.LeaseToken)
	if store.NotFound(err) {
		return Outcome{}, fault.LeaseLost(job.ID, job.State)
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("look up the run of a token: %w", err)
	}
	switch actionOf(run) {
	case in.Action:
		return Outcome{Job: job, Run: run}, nil
	case "":
		return Outcome{}, fault.LeaseLost(job.ID, job.State)
	}
	return Outcome{}, fault.StateConflict(job.ID, job.State)
}

// actionOf is the action that ended a run, "" if its holder did not end it: a
// lease that ran out, or a time limit.
func actionOf(run runs.Run) string {
	switch {
	case run.Status == runs.Succeeded:
		return Complete
	case run.Status == runs.Failed && deref(run.TerminalReason) != runs.ReasonTimeout:
		return Fail
	case run.Status == runs.Cancelled && deref(run.TerminalReason) == runs.ReasonSnoozed:
		return Snooze
	case run.Status == runs.Cancelled && deref(run.TerminalReason) == runs.ReasonReleased:
		return Release
	}
	return ""
}

// settle writes the end of a claim: the job, its run, and the successor if one
// was asked for while the claim lasted. A cancelled job has none.
func settle(ctx context.Context, q model.Querier, now coltype.Time, job model.Job, end ending) (Outcome, error) {
	now = notBefore(job, now)
	next, err := end.apply(job, now)
	if err != nil {
		return Outcome{}, err
	}
	var successor *newJob
	if (next.State == Succeeded || next.State == Failed) && job.Again != nil {
		row, err := succeed(job, now)
		if err != nil {
			return Outcome{}, err
		}
		successor, next.FollowedBy = &row, &row.ID
	}
	settled, err := q.JobSettle(ctx, next)
	if err != nil {
		return Outcome{}, fmt.Errorf("settle %s: %w", job.ID, err)
	}
	run, err := runs.End(ctx, q, now, runs.EndIn{
		OwnerID: job.OwnerID, JobID: job.ID, Status: end.runStatus, Reason: end.reason,
		Error: end.runError, Warning: end.warning, Progress: job.Progress,
	})
	if err != nil || successor == nil {
		return Outcome{Job: settled, Run: run}, err
	}
	return Outcome{Job: settled, Run: run}, follow(ctx, q, now, job, *successor)
}

// succeed is the successor that was asked for while job was claimed.
func succeed(job model.Job, now coltype.Time) (newJob, error) {
	a, err := againOf(job)
	if err != nil {
		return newJob{}, err
	}
	return a.successor(job, id.New("job"), now), nil
}

// follow enqueues the successor of a job that ended a statement ago; its key
// is free within this transaction.
func follow(ctx context.Context, q model.Querier, now coltype.Time, job model.Job, row newJob) error {
	fresh := map[string]model.Job{}
	if err := insert(ctx, q, now, job.OwnerID, []newJob{row}, fresh); err != nil {
		return err
	}
	if !has(fresh, row.ID) {
		return fmt.Errorf("enqueue the successor of %s: its key is taken", job.ID)
	}
	return nil
}

package jobs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// ByHandIn is an action of a person on one job. Actor is recorded.
type ByHandIn struct {
	OwnerID string
	ID      string
	Actor   string
}

// Cancel ends a pending job, and asks the holder of a claimed one to stop: it
// hears so with its next heartbeat. What was asked again is dropped, unless the
// holder completes the job: then what was asked after the cancel follows.
// Cancelling twice changes nothing.
func Cancel(ctx context.Context, q model.Querier, now coltype.Time, in ByHandIn) (model.Job, error) {
	job, err := lock(ctx, q, in)
	if err != nil {
		return model.Job{}, err
	}
	now = notBefore(job, now)
	switch {
	case job.State == Cancelled, job.State == Claimed && !job.CancelRequestedAt.IsZero():
		return job, nil
	case job.State == Pending:
		job, err = q.JobCancel(ctx, model.JobCancelParams{ID: in.ID, OwnerID: in.OwnerID, Actor: &in.Actor, Now: now})
	case job.State == Claimed:
		job, err = q.JobRequestCancel(ctx, model.JobRequestCancelParams{ID: in.ID, OwnerID: in.OwnerID, Actor: &in.Actor, Now: now})
	default:
		return model.Job{}, fault.StateConflict(job.ID, job.State)
	}
	if err != nil {
		return model.Job{}, fmt.Errorf("cancel %s: %w", in.ID, err)
	}
	return job, nil
}

// Retry puts a failed or cancelled job back to work from attempt 0, and lets a
// job in backoff run at once. The key of an issue is that of its repository's
// present name. A key that is live meanwhile is key_in_use.
func Retry(ctx context.Context, q model.Querier, now coltype.Time, in ByHandIn) (model.Job, error) {
	key, err := presentKey(ctx, q, in)
	if err != nil {
		return model.Job{}, err
	}
	job, err := lock(ctx, q, in)
	if err != nil {
		return model.Job{}, err
	}
	now = notBefore(job, now)
	set := model.JobReviveParams{
		ID: in.ID, OwnerID: in.OwnerID, Key: key, ExpectedState: job.State, ExpectedAttempt: job.Attempt,
		Actor: &in.Actor, Now: now,
	}
	switch {
	case job.State == Failed || job.State == Cancelled:
		if err := keyFree(ctx, q, in.OwnerID, key); err != nil {
			return model.Job{}, err
		}
	case job.State == Pending && job.Attempt > 0 && job.RunAt.After(now):
		set.Attempt, set.Error, set.Progress = job.Attempt, job.Error, job.Progress
	default:
		return model.Job{}, fault.StateConflict(job.ID, job.State)
	}
	// An enqueue that takes the key between the look and the update makes the
	// update a unique violation; store.Tx then runs the operation again.
	if job, err = q.JobRevive(ctx, set); err != nil {
		return model.Job{}, fmt.Errorf("retry %s: %w", in.ID, err)
	}
	return job, nil
}

// presentKey is the key that a job has as a live one. An ended job keeps the key
// that it had, so that of an issue is made from the name that the repository has
// now. It is held before the job is locked, which is the order everywhere, and
// nobody renames it before the transaction ends.
func presentKey(ctx context.Context, q model.Querier, in ByHandIn) (*string, error) {
	job, err := Get(ctx, q, in.OwnerID, in.ID)
	if err != nil || job.RepoID == nil || job.IssueNumber == nil {
		return job.Key, err
	}
	name, err := repos.Hold(ctx, q, in.OwnerID, *job.RepoID)
	if err != nil {
		return nil, err
	}
	key := name.IssueKey(*job.IssueNumber)
	return &key, nil
}

// keyFree is key_in_use if a job of the key is live. That one is not locked: it
// may come before the other in the order of ids.
func keyFree(ctx context.Context, q model.Reader, ownerID string, key *string) error {
	if key == nil {
		return nil
	}
	live, err := q.JobGetByKey(ctx, model.JobGetByKeyParams{OwnerID: ownerID, Key: key})
	if store.NotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up the live job: %w", err)
	}
	return fault.KeyInUse(live.ID, live.State)
}

// lock locks a job for an action by hand.
func lock(ctx context.Context, q model.Querier, in ByHandIn) (model.Job, error) {
	job, err := q.JobLock(ctx, model.JobLockParams{ID: in.ID, OwnerID: in.OwnerID})
	if store.NotFound(err) {
		return model.Job{}, fault.NotFound()
	}
	if err != nil {
		return model.Job{}, fmt.Errorf("lock %s: %w", in.ID, err)
	}
	return job, nil
}

package jobs

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
)

// ending is how a claim ends, before a cancel request and what was asked again
// are looked at.
type ending struct {
	state    string
	runAt    coltype.Time // when the state is pending
	attempt  func(int64) int64
	result   coltype.JSON
	jobError coltype.JSON

	runStatus string
	reason    string
	runError  coltype.JSON
	warning   *string
}

func counted(attempt int64) int64   { return attempt }
func givenUp(attempt int64) int64   { return attempt - 1 }
func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// completed is a success; a result that is absent stays absent.
func completed(result coltype.JSON) ending {
	return ending{state: Succeeded, attempt: counted, result: result, runStatus: runs.Succeeded}
}

// failed is a failure: a retry after the backoff while attempts are left, else
// the end.
func (in FinishIn) failed(job model.Job, kind model.JobKind, now coltype.Time) ending {
	end := ending{
		state: Failed, attempt: counted, jobError: in.Error,
		runStatus: runs.Failed, runError: in.Error,
	}
	if !in.Retryable || job.Attempt >= job.MaxAttempts {
		return end
	}
	wait := Backoff(kind, job.Attempt, in.Jitter)
	if in.RetryAfter != nil {
		wait = seconds(*in.RetryAfter)
	}
	end.state, end.runAt = Pending, now.Add(wait)
	return end
}

// Backoff is min(cap, base × 2^(attempt−1)) × jitter, of the kind.
func Backoff(kind model.JobKind, attempt int64, jitter float64) time.Duration {
	base := float64(kind.BackoffBaseSeconds) * math.Pow(2, float64(attempt-1))
	return time.Duration(min(base, float64(kind.BackoffCapSeconds)) * jitter * float64(time.Second))
}

// Jitter is the random part of a backoff, 0.8 to 1.2.
func Jitter() float64 { return 0.8 + 0.4*rand.Float64() }

// givenBack is a snooze or a release: the attempt does not count.
func givenBack(job model.Job, reason string, runAt coltype.Time) ending {
	return ending{
		state: Pending, runAt: runAt, attempt: givenUp, jobError: job.Error,
		runStatus: runs.Cancelled, reason: reason,
	}
}

// expired is a lease that ran out: the attempt counts, because what the worker
// did in it is unknown.
func expired(job model.Job, now coltype.Time) ending {
	fault := coltype.JSON(`{"code":"lease_expired","message":"The lease ran out without a heartbeat."}`)
	end := ending{
		state: Failed, attempt: counted, jobError: fault,
		runStatus: runs.Abandoned, reason: runs.ReasonLeaseExpired, runError: fault,
	}
	if job.Attempt < job.MaxAttempts {
		end.state, end.runAt = Pending, now
	}
	return end
}

// apply is the job's row after the end of its claim, fenced by the lease that
// was read. After a cancel request only a success is not a cancel. A job that
// returns to pending takes what was asked again; without an explicit run_at
// there it keeps its backoff.
func (end ending) apply(job model.Job, now coltype.Time) (model.JobSettleParams, error) {
	next := model.JobSettleParams{
		ID: job.ID, OwnerID: job.OwnerID, LeaseToken: job.LeaseToken, LeaseExpiresAt: job.LeaseExpiresAt,
		State: end.state, Payload: job.Payload, Priority: job.Priority, RunAt: job.RunAt,
		Attempt: end.attempt(job.Attempt), MaxAttempts: job.MaxAttempts, TimeoutSeconds: job.TimeoutSeconds, Traceparent: job.Traceparent,
		Result: end.result, Error: end.jobError, Progress: job.Progress,
		FollowedBy: job.FollowedBy, CancelRequestedAt: job.CancelRequestedAt, UpdatedAt: now,
	}
	if !job.CancelRequestedAt.IsZero() && end.state != Succeeded {
		next.State = Cancelled
	}
	if final(next.State) {
		next.FinishedAt = now
		return next, nil
	}
	next.RunAt = end.runAt
	return next, takeAgain(&next, job, now)
}

// takeAgain puts what was asked again in the place of the job's own members.
func takeAgain(next *model.JobSettleParams, job model.Job, now coltype.Time) error {
	if job.Again == nil {
		return nil
	}
	a, err := againOf(job)
	if err != nil {
		return err
	}
	next.Payload, next.Priority, next.Traceparent = coltype.JSON(a.Payload), a.Priority, a.Traceparent
	next.MaxAttempts, next.TimeoutSeconds = max(a.MaxAttempts, next.Attempt+1), a.TimeoutSeconds
	if a.RunAt != nil {
		next.RunAt = orNow(*a.RunAt, now)
	}
	return nil
}

// againOf reads what was kept by keepAgain. A replica of the release before kept
// no time limit: the job's stays.
func againOf(job model.Job) (again, error) {
	var a again
	if job.TimeoutSeconds != nil {
		timeout := *job.TimeoutSeconds // json writes to where the pointer leads
		a.TimeoutSeconds = &timeout
	}
	if err := json.Unmarshal(job.Again, &a); err != nil {
		return again{}, fmt.Errorf("read again of %s: %w", job.ID, err)
	}
	return a, nil
}

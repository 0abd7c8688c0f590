package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// ReapBatch is how many jobs one transaction of the reaper takes back, and
// reapMost how many a pass does: the next one, at once, renews the lease.
// ReapEvery is the time between passes unless the server is told otherwise.
const (
	ReapBatch = 100
	reapMost  = 10 * ReapBatch
	ReapEvery = 10 * time.Second
)

// Reaped is what became of one batch.
type Reaped struct {
	Done   []model.Job // taken back, as they stand now
	Last   string      // id of the last job looked at; "" when there are none behind it
	Bad    error       // why others could not be taken back; they stay as they were
	Broken []model.Job // those of Done whose lease was broken, as they were
}

// Reap takes back jobs of all owners whose lease ran out more than runs.Grace
// ago, or is broken since it ends after runs.LatestEnd: up to ReapBatch of those
// whose id sorts after the one given. Rows that somebody is working on are passed
// over. Any number of replicas may run it at once: a job is taken back under its
// row lock, fenced by the lease that was read. A job that cannot be taken back
// keeps no other one from it. jitter is the random part of the backoff after a time
// limit.
func Reap(ctx context.Context, q model.Querier, now coltype.Time, after string, jitter func() float64) (Reaped, error) {
	overdue, err := q.JobLockOverdue(ctx, model.JobLockOverdueParams{
		Cutoff: now.Add(-runs.Grace), Latest: runs.LatestEnd(now), AfterID: after, Max: ReapBatch,
	})
	if err != nil {
		return Reaped{}, fmt.Errorf("list overdue jobs: %w", err)
	}
	var out Reaped
	for _, row := range overdue {
		var job model.Job
		err := store.Savepoint(ctx, q, func() error {
			end, err := endOf(ctx, q, now, row, jitter)
			if err != nil {
				return err
			}
			settled, err := settle(ctx, q, now, row.Job, end)
			job = settled.Job
			return err
		})
		if err != nil {
			out.Bad = errors.Join(out.Bad, fmt.Errorf("take back %s: %w", row.Job.ID, err))
			continue
		}
		out.Done = append(out.Done, job)
		if row.Job.LeaseExpiresAt.After(now) {
			out.Broken = append(out.Broken, row.Job)
		}
	}
	if len(overdue) == ReapBatch {
		out.Last = overdue[ReapBatch-1].Job.ID
	}
	return out, nil
}

// endOf is how the claim of an overdue job ends: by the time limit if the lease
// reached the deadline, or beyond it by a replica that knows none. A broken lease
// tells nothing of the deadline.
func endOf(ctx context.Context, q model.Reader, now coltype.Time, row model.JobLockOverdueRow, jitter func() float64) (ending, error) {
	if row.DeadlineAt.IsZero() || row.DeadlineAt.After(now) || row.Job.LeaseExpiresAt.Before(row.DeadlineAt) {
		return expired(row.Job, now), nil
	}
	kind, err := kindOfJob(ctx, q, row.Job)
	return timedOut(row.Job, now, Backoff(kind, row.Job.Attempt, jitter())), err
}

// ReapAll is one pass of the reaper: batch after batch of overdue jobs, at most
// reapMost, each batch in a transaction of its own. The error names the jobs that
// could not be taken back; for the others the hub wakes the claims that wait. The
// time is measured anew first: to a replica that has not heard yet that the
// database's clock was set forward, sound leases look broken.
func ReapAll(ctx context.Context, s *store.Store, hub *Hub, log *slog.Logger) (n int, err error) {
	if err := s.Remeasure(ctx); err != nil {
		return 0, err
	}
	var bad error
	for after := ""; ; {
		var batch Reaped
		now, err := s.Time(ctx)
		if err == nil {
			err = s.Tx(ctx, func(q model.Querier) (err error) {
				batch, err = Reap(ctx, q, now, after, Jitter)
				return err
			})
		}
		if err != nil {
			return n, errors.Join(bad, err)
		}
		hub.WakeFor(batch.Done...)
		n, bad = n+len(batch.Done), errors.Join(bad, batch.Bad)
		for _, job := range batch.Broken {
			log.Warn("took back a job whose lease was to end later than any that can be asked for",
				"job", job.ID, "owner_id", job.OwnerID, "worker", deref(job.ClaimedBy), "lease_expires_at", job.LeaseExpiresAt.String())
		}
		if after = batch.Last; after == "" || n >= reapMost {
			return n, bad
		}
	}
}

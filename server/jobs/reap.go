package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
)

// ReapBatch is how many jobs one pass of the reaper takes back, and ReapEvery
// the time between passes.
const (
	ReapBatch = 100
	ReapEvery = 10 * time.Second
)

// Reap takes back jobs of all owners whose lease ran out more than Grace ago,
// up to ReapBatch, and returns how many. Rows that somebody is working on are
// passed over. Any number of replicas may run it at once: a job is taken back
// under its row lock, fenced by the lease that was read.
func Reap(ctx context.Context, q model.Querier, now coltype.Time) (int, error) {
	overdue, err := q.JobLockOverdue(ctx, model.JobLockOverdueParams{Cutoff: now.Add(-runs.Grace), Max: ReapBatch})
	if err != nil {
		return 0, fmt.Errorf("list overdue jobs: %w", err)
	}
	for _, job := range overdue {
		if _, err := settle(ctx, q, now, job, expired(job, now)); err != nil {
			return 0, err
		}
	}
	return len(overdue), nil
}

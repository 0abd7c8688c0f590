package jobs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/web"
)

const (
	// maxTroubled is how many failed and how many claimed jobs of an owner Troubled
	// looks at, the newest of each.
	maxTroubled = 2000

	// maxHeld is how many claimed jobs of an owner Holders looks at, the newest.
	maxHeld = 2000
)

// Troubled counts the jobs of an owner that need a person, among the 2,000
// newest of their state: those that failed since, and those whose lease ran out.
func Troubled(ctx context.Context, q model.Reader, now coltype.Time, ownerID string, since coltype.Time) (failed, overdue web.Count, err error) {
	n, err := q.JobCountTroubled(ctx, model.JobCountTroubledParams{Since: since, OwnerID: ownerID, Max: maxTroubled, Now: now, Latest: runs.LatestEnd(now)})
	if err != nil {
		return failed, overdue, fmt.Errorf("count jobs that need a person: %w", err)
	}
	return amongNewest(n.Failed, n.FailedWalked), amongNewest(n.Overdue, n.OverdueWalked), nil
}

// amongNewest is a count of rows that were found among the newest; there may be
// more if so many were walked that older ones were not.
func amongNewest(found, walked int64) web.Count {
	c := web.Counted(found)
	c.AtLeast = c.AtLeast || walked == maxTroubled
	return c
}

// Holders counts the claimed jobs of an owner by the worker that holds them. If
// there are more than 2,000, only the newest are counted.
func Holders(ctx context.Context, q model.Reader, ownerID string) (byWorker map[string]int64, more bool, err error) {
	holders, err := q.JobListHolders(ctx, model.JobListHoldersParams{OwnerID: ownerID, Max: maxHeld + 1})
	if err != nil {
		return nil, false, fmt.Errorf("list who holds jobs: %w", err)
	}
	byWorker = map[string]int64{}
	for _, name := range holders[:min(len(holders), maxHeld)] {
		byWorker[*name]++ // a claimed job has a holder: jobs_lease_check
	}
	return byWorker, len(holders) > maxHeld, nil
}

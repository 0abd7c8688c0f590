package sources

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// The reaper of connections' runs comes every reapEvery and looks at reapBatch runs
// at a time.
const (
	reapEvery = 10 * time.Second
	reapBatch = 200
)

// ReapLoop ends the runs of connections whose runners are gone.
func ReapLoop() control.Loop {
	return control.Loop{Name: "connection-run-reaper", Every: reapEvery, Run: Reap, Lease: true}
}

// Reap ends, as abandoned, the runs of all owners' connections whose lease ended
// more than runs.Grace ago, each in a transaction of its own, and returns how many.
// A run that was renewed or ended meanwhile is left alone; one that cannot be ended
// keeps no other one from it.
func Reap(ctx context.Context, s *store.Store) (n int, err error) {
	now, err := s.Time(ctx)
	if err != nil {
		return 0, err
	}
	var bad error
	for after := ""; ; {
		overdue, err := runs.ListOverdue(ctx, s, now, after, reapBatch)
		if err != nil {
			return n, err
		}
		for _, run := range overdue {
			done, err := reapOne(ctx, s, now, run)
			if err != nil {
				bad = errors.Join(bad, fmt.Errorf("abandon %s: %w", run.ID, err))
			} else if done {
				n++
			}
		}
		if len(overdue) < reapBatch {
			return n, bad
		}
		after = *overdue[reapBatch-1].ConnectionID
	}
}

func reapOne(ctx context.Context, s *store.Store, now coltype.Time, run runs.Overdue) (done bool, err error) {
	err = s.Tx(ctx, func(q model.Querier) (err error) {
		done, err = reap(ctx, q, now, run)
		return err
	})
	return done, err
}

// reap ends a run that is still overdue.
func reap(ctx context.Context, q model.Querier, now coltype.Time, run runs.Overdue) (bool, error) {
	generation, err := runs.LockOverdue(ctx, q, now, run)
	if generation == nil || err != nil {
		return false, err
	}
	c, err := Lock(ctx, q, run.OwnerID, *run.ConnectionID)
	if err != nil {
		return false, err
	}
	return true, end(ctx, q, now, c, ending{ID: run.ID, Generation: generation, Status: runs.Abandoned, Reason: runs.ReasonLeaseExpired})
}

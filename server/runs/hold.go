package runs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// Hold holds a run of a connection for the transaction of q, which writes for it:
// the run cannot end before the transaction does. It is the fault not_found if the
// connection has no such run, and run_not_active if it has ended or has another
// generation. A lease that ran out is no reason, until the run is ended for it.
func Hold(ctx context.Context, q model.Querier, ownerID, runID, connectionID string, generation int64) error {
	row, err := q.RunHold(ctx, model.RunHoldParams{ID: runID, OwnerID: ownerID, ConnectionID: &connectionID})
	if store.NotFound(err) {
		return fault.NotFound()
	}
	if err != nil {
		return fmt.Errorf("hold %s: %w", runID, err)
	}
	if row.Status != Running || row.Generation == nil || *row.Generation != generation {
		return fault.RunNotActive(runID, row.Status)
	}
	return nil
}

// Active is the running run of a connection.
type Active = model.RunGetActiveRow

// ActiveOf is the running run of a connection; nil if it has none.
func ActiveOf(ctx context.Context, q model.Reader, ownerID, connectionID string) (*Active, error) {
	row, err := q.RunGetActive(ctx, model.RunGetActiveParams{OwnerID: ownerID, ConnectionID: &connectionID})
	return active(row, err, connectionID)
}

// LockActive is the same, held for the transaction of q, which may end it.
func LockActive(ctx context.Context, q model.Querier, ownerID, connectionID string) (*Active, error) {
	row, err := q.RunLockActive(ctx, model.RunLockActiveParams{OwnerID: ownerID, ConnectionID: &connectionID})
	return active(row, err, connectionID)
}

func active(row Active, err error, connectionID string) (*Active, error) {
	if store.NotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find the running run of %s: %w", connectionID, err)
	}
	return &row, nil
}

// Overdue is a run of a connection whose lease has ended.
type Overdue = model.RunListOverdueRow

// ListOverdue are running runs of all owners' connections whose lease ended more
// than Grace ago, or is broken since it ends after LatestEnd: up to max, of the
// connections behind the one given.
func ListOverdue(ctx context.Context, q model.Reader, now coltype.Time, after string, max int) ([]Overdue, error) {
	rows, err := q.RunListOverdue(ctx, model.RunListOverdueParams{
		Cutoff: now.Add(-Grace), Latest: LatestEnd(now), AfterID: &after, Max: int64(max),
	})
	if err != nil {
		return nil, fmt.Errorf("list overdue runs: %w", err)
	}
	return rows, nil
}

// LockOverdue holds a run for the transaction of q if its lease has still ended,
// and returns its generation; nil if the run goes on or has ended.
func LockOverdue(ctx context.Context, q model.Querier, now coltype.Time, run Overdue) (*int64, error) {
	row, err := q.RunLockOverdue(ctx, model.RunLockOverdueParams{
		ID: run.ID, OwnerID: run.OwnerID, Cutoff: now.Add(-Grace), Latest: LatestEnd(now),
	})
	if store.NotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("hold the overdue %s: %w", run.ID, err)
	}
	return row.Generation, nil
}

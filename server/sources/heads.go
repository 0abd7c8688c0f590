package sources

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// headStarted notes the run that a locked connection has begun.
func headStarted(ctx context.Context, q model.Querier, now coltype.Time, c model.Connection, runID string) error {
	_, err := q.HeadStartRun(ctx, model.HeadStartRunParams{ConnectionID: c.ID, OwnerID: c.OwnerID, RunID: &runID, Now: now})
	if err != nil {
		return fmt.Errorf("note the start of %s: %w", runID, err)
	}
	return nil
}

// headEnded notes that the running run of a locked connection has ended.
func headEnded(ctx context.Context, q model.Querier, now coltype.Time, c model.Connection, runID string, succeeded bool) error {
	arg := model.HeadEndRunParams{ConnectionID: c.ID, OwnerID: c.OwnerID, RunID: &runID, Now: now}
	if succeeded {
		arg.SucceededRunID = &runID
	}
	if _, err := q.HeadEndRun(ctx, arg); err != nil {
		return fmt.Errorf("note the end of %s: %w", runID, err)
	}
	return nil
}

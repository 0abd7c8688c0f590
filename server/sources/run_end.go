package sources

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// FinishIn says how a run of a connection ended.
type FinishIn struct {
	OwnerID    string
	RunID      string
	Generation int64
	Status     string
	Reason     *string
	Error      coltype.JSON
}

// Finish ends a run of a connection. The first end wins: the same status again is
// answered with the run as it ended, another is state_conflict. A generation before
// the connection's is run_superseded.
func Finish(ctx context.Context, q model.Querier, now coltype.Time, in FinishIn) (runs.Run, error) {
	run, err := runs.Get(ctx, q, in.OwnerID, in.RunID)
	if err != nil {
		return run, err
	}
	if run.Status == in.Status && ofGeneration(run, in.Generation) {
		return run, nil
	}
	ended, err := runs.Finish(ctx, q, now, runs.FinishIn{
		OwnerID: in.OwnerID, ID: in.RunID, Generation: in.Generation, Status: in.Status, Reason: in.Reason, Error: in.Error,
	})
	if err != nil {
		return run, err
	}
	if !ended {
		return sameEnd(ctx, q, now, in)
	}
	c, err := Lock(ctx, q, in.OwnerID, *run.ConnectionID)
	if err != nil {
		return run, err
	}
	if err := settle(ctx, q, now, c, ending{ID: in.RunID, Status: in.Status}); err != nil {
		return run, err
	}
	return runs.Get(ctx, q, in.OwnerID, in.RunID)
}

// sameEnd is the answer to a finish that ended nothing: the run, if another finish
// has just ended it so, or why not.
func sameEnd(ctx context.Context, q model.Reader, now coltype.Time, in FinishIn) (runs.Run, error) {
	run, err := runs.Get(ctx, q, in.OwnerID, in.RunID)
	if err != nil || run.Status == in.Status && ofGeneration(run, in.Generation) {
		return run, err
	}
	return run, refused(ctx, q, now, run, in.Generation)
}

func ofGeneration(run runs.Run, generation int64) bool {
	return run.Generation != nil && *run.Generation == generation
}

// refused is why a runner may not change its run: run_superseded if the connection
// has a later generation, else state_conflict.
func refused(ctx context.Context, q model.Reader, now coltype.Time, run runs.Run, generation int64) error {
	shown := runs.Shown(run, now)
	if run.ConnectionID == nil {
		return fault.RunConflict(run.ID, shown)
	}
	c, err := q.ConnectionGet(ctx, model.ConnectionGetParams{ID: *run.ConnectionID, OwnerID: run.OwnerID})
	switch {
	case store.NotFound(err):
		return fault.RunConflict(run.ID, shown)
	case err != nil:
		return found(*run.ConnectionID, err)
	case generation < c.RunGeneration:
		return fault.RunSuperseded(run.ID, shown)
	}
	return fault.RunConflict(run.ID, shown)
}

// ending is the end of a running run.
type ending struct {
	ID         string
	Generation *int64
	Status     string
	Reason     string
}

// end ends the running run of a locked connection that its runner does not end.
func end(ctx context.Context, q model.Querier, now coltype.Time, c model.Connection, e ending) error {
	ended, err := runs.Finish(ctx, q, now, runs.FinishIn{
		OwnerID: c.OwnerID, ID: e.ID, Generation: deref(e.Generation), Status: e.Status, Reason: &e.Reason,
	})
	if err != nil || !ended {
		return err
	}
	return settle(ctx, q, now, c, e)
}

// cancel ends the running run of a locked connection, if it has one, for what
// happens to the connection.
func cancel(ctx context.Context, q model.Querier, now coltype.Time, c model.Connection, active *runs.Active, reason string) error {
	if active == nil {
		return nil
	}
	return end(ctx, q, now, c, ending{ID: active.ID, Generation: active.Generation, Status: runs.Cancelled, Reason: reason})
}

// settle notes that a run of a locked connection has ended.
func settle(ctx context.Context, q model.Querier, now coltype.Time, c model.Connection, e ending) error {
	succeeded := e.Status == runs.Succeeded || e.Status == runs.SucceededWithGaps
	if err := headEnded(ctx, q, now, c, e.ID, succeeded); err != nil {
		return err
	}
	return endRefresh(ctx, q, now, c, e.ID, e.Status == runs.Succeeded)
}

package sources

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// StartIn is a run to start on a connection.
type StartIn struct {
	OwnerID       string
	Connection    string // a selector, see Resolve
	Kind          string // one of runs.ConnectionKinds
	ExternalRunID *string
	Worker        *string
	LeaseSeconds  int64
	FullRefresh   []string // streams that the run reads whole, each once
}

// Started is a run that was started, now or before under the same external id.
type Started struct {
	Run          runs.Run
	Deduplicated bool
}

// Start starts a run of a connection. It raises the generation of the connection's
// runs, by which writes are fenced. A run whose lease ran out is ended as abandoned;
// one with a live lease is run_already_active, and stays as it is. An external id
// that the connection knows brings the run of that id, whatever became of it.
func Start(ctx context.Context, q model.Querier, now coltype.Time, in StartIn) (Started, error) {
	of, err := Resolve(ctx, q, in.OwnerID, in.Connection)
	if err != nil {
		return Started{}, err
	}
	c, active, err := lockWithRun(ctx, q, in.OwnerID, of.ID)
	if err != nil {
		return Started{}, err
	}
	if known, err := startedBefore(ctx, q, c, in.ExternalRunID); known != nil || err != nil {
		return Started{Run: deref(known), Deduplicated: true}, err
	}
	switch {
	case c.Status == Revoked:
		return Started{}, fault.ConnectionRevoked(c.ID)
	case active != nil && runs.Live(active.LeaseExpiresAt, now):
		return Started{}, fault.RunAlreadyActive(active.ID, runs.InProgress)
	case active != nil:
		err = end(ctx, q, now, c, ending{ID: active.ID, Generation: active.Generation, Status: runs.Abandoned, Reason: runs.ReasonLeaseExpired})
	}
	if err != nil {
		return Started{}, err
	}
	run, err := open(ctx, q, now, c, in)
	return Started{Run: run}, err
}

// lockWithRun locks a connection together with its running run, if it has one. The
// run comes first in the order of locks. One that began between the two locks must not
// be waited for under the second, for which its writers wait: the transaction is run
// again.
func lockWithRun(ctx context.Context, q model.Querier, ownerID, connectionID string) (model.Connection, *runs.Active, error) {
	locked, err := runs.LockActive(ctx, q, ownerID, connectionID)
	if err != nil {
		return model.Connection{}, nil, err
	}
	c, err := Lock(ctx, q, ownerID, connectionID)
	if err != nil {
		return c, nil, err
	}
	active, err := runs.ActiveOf(ctx, q, ownerID, connectionID)
	if err == nil && active != nil && (locked == nil || locked.ID != active.ID) {
		err = fmt.Errorf("run %s of %s began meanwhile: %w", active.ID, c.ID, store.ErrRerun)
	}
	return c, active, err
}

// Lock locks a connection, whatever its status: whoever writes to it or changes it
// comes before or after.
func Lock(ctx context.Context, q model.Querier, ownerID, connectionID string) (model.Connection, error) {
	c, err := q.ConnectionLock(ctx, model.ConnectionLockParams{ID: connectionID, OwnerID: ownerID})
	return c, found(connectionID, err)
}

// startedBefore is the run of a connection under that external id; nil if there is
// none.
func startedBefore(ctx context.Context, q model.Reader, c model.Connection, external *string) (*runs.Run, error) {
	if external == nil {
		return nil, nil
	}
	runID, err := runs.ByExternal(ctx, q, c.OwnerID, c.ID, *external)
	if runID == "" || err != nil {
		return nil, err
	}
	run, err := runs.Get(ctx, q, c.OwnerID, runID)
	return &run, err
}

// open opens the run of a locked connection that has none running.
func open(ctx context.Context, q model.Querier, now coltype.Time, c model.Connection, in StartIn) (runs.Run, error) {
	generation, err := q.ConnectionStartRun(ctx, model.ConnectionStartRunParams{ID: c.ID, OwnerID: c.OwnerID})
	if err != nil {
		return runs.Run{}, fmt.Errorf("raise the generation of %s: %w", c.ID, err)
	}
	runID, err := runs.Insert(ctx, q, now, runs.InsertIn{
		OwnerID: c.OwnerID, ConnectionID: c.ID, Kind: in.Kind, ExternalRunID: in.ExternalRunID,
		Worker: in.Worker, Generation: generation, LeaseSeconds: in.LeaseSeconds,
	})
	if err == nil {
		err = headStarted(ctx, q, now, c, runID)
	}
	if err == nil {
		err = beginRefresh(ctx, q, now, c, refreshIn{RunID: runID, Generation: generation, Streams: in.FullRefresh})
	}
	if err != nil {
		return runs.Run{}, err
	}
	return runs.Get(ctx, q, c.OwnerID, runID)
}

// deref is the value, or the zero one for nil.
func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

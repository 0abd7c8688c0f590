package runs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/store"
)

// InsertIn is a run that begins on a connection.
type InsertIn struct {
	OwnerID       string
	ConnectionID  string
	Kind          string // one of ConnectionKinds
	ExternalRunID *string
	Worker        *string
	Generation    int64
	LeaseSeconds  int64
}

// Insert opens a run of a connection that has none running, in the transaction that
// raised its generation, and returns the run's id.
func Insert(ctx context.Context, q model.Querier, now coltype.Time, in InsertIn) (string, error) {
	runID := id.New("run")
	err := q.RunInsert(ctx, model.RunInsertParams{
		ID: runID, OwnerID: in.OwnerID, Kind: in.Kind, ConnectionID: &in.ConnectionID, ExternalRunID: in.ExternalRunID,
		Worker: in.Worker, Generation: &in.Generation, Now: now, LeaseExpiresAt: leaseEnd(now, in.LeaseSeconds),
	})
	if err != nil {
		return "", fmt.Errorf("open a run of %s: %w", in.ConnectionID, err)
	}
	return runID, nil
}

// ByExternal is the id of the run of a connection that its runner calls so; "" if
// there is none.
func ByExternal(ctx context.Context, q model.Reader, ownerID, connectionID, externalRunID string) (string, error) {
	runID, err := q.RunGetByExternal(ctx, model.RunGetByExternalParams{
		OwnerID: ownerID, ConnectionID: &connectionID, ExternalRunID: &externalRunID,
	})
	if store.NotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find run %q of %s: %w", externalRunID, connectionID, err)
	}
	return runID, nil
}

// RenewIn is a heartbeat of a run of a connection.
type RenewIn struct {
	OwnerID      string
	ID           string
	Generation   int64
	LeaseSeconds *int64 // nil: DefaultLease, if that ends later than the lease does
}

// Renew extends the lease of a running run and returns its end. false: no such run
// is running under that generation.
func Renew(ctx context.Context, q model.Querier, now coltype.Time, in RenewIn) (coltype.Time, bool, error) {
	arg := model.RunRenewParams{ID: in.ID, OwnerID: in.OwnerID, Generation: &in.Generation}
	if in.LeaseSeconds != nil {
		arg.LeaseExpiresAt = leaseEnd(now, *in.LeaseSeconds)
	} else {
		arg.LeaseExpiresAt, arg.KeptAt = leaseEnd(now, DefaultLease), LatestEnd(now)
	}
	end, err := q.RunRenew(ctx, arg)
	if store.NotFound(err) {
		return coltype.Time{}, false, nil
	}
	if err != nil {
		return coltype.Time{}, false, fmt.Errorf("renew the lease of %s: %w", in.ID, err)
	}
	return end, true, nil
}

// FinishIn says how a run of a connection ended.
type FinishIn struct {
	OwnerID    string
	ID         string
	Generation int64
	Status     string
	Reason     *string
	Error      coltype.JSON
}

// Finish ends a running run of a connection. false: no such run is running under
// that generation.
func Finish(ctx context.Context, q model.Querier, now coltype.Time, in FinishIn) (bool, error) {
	n, err := q.RunFinish(ctx, model.RunFinishParams{
		ID: in.ID, OwnerID: in.OwnerID, Generation: &in.Generation,
		Status: in.Status, TerminalReason: in.Reason, Error: in.Error, CompletedAt: now,
	})
	if err != nil {
		return false, fmt.Errorf("finish %s: %w", in.ID, err)
	}
	return n > 0, nil
}

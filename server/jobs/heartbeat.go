package jobs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// What a heartbeat tells the worker to do.
const (
	directiveContinue = "continue"
	directiveCancel   = "cancel" // stop the work and report; the job ends cancelled unless it completes
	directiveDrain    = "drain"  // this replica is stopping: finish, and claim elsewhere
)

// HeartbeatIn extends a lease.
type HeartbeatIn struct {
	OwnerID      string
	ID           string
	LeaseToken   string
	LeaseSeconds *int64       // nil: the kind's, if that ends later than the lease does
	Progress     coltype.JSON // nil: the last stays
}

// Beat is the lease after a heartbeat.
type Beat struct {
	Worker         string // that claimed the job
	LeaseExpiresAt coltype.Time
	DeadlineAt     coltype.Time // of the attempt; zero: none
	Directive      string
}

// Heartbeat extends the lease from now, but not beyond the deadline of the
// attempt. A lease that ran out but was not yet taken back is renewed by its own
// token. Any other token, and a beat that comes when the deadline has passed, get
// lease_lost and change nothing.
func Heartbeat(ctx context.Context, q model.Querier, now coltype.Time, in HeartbeatIn) (Beat, error) {
	row, err := q.JobRenew(ctx, model.JobRenewParams{
		ID: in.ID, OwnerID: in.OwnerID, LeaseToken: &in.LeaseToken,
		Now: now, Latest: runs.LatestEnd(now), LeaseSeconds: in.LeaseSeconds, Progress: in.Progress,
	})
	if store.NotFound(err) {
		return Beat{}, lost(ctx, q, in.OwnerID, in.ID)
	}
	if err != nil {
		return Beat{}, fmt.Errorf("heartbeat of %s: %w", in.ID, err)
	}
	if !row.LeaseExpiresAt.After(now) { // the deadline cut it off
		return Beat{}, fault.LeaseLost(in.ID, Claimed)
	}
	beat := Beat{
		Worker: deref(row.ClaimedBy), LeaseExpiresAt: row.LeaseExpiresAt,
		DeadlineAt: row.DeadlineAt, Directive: directiveContinue,
	}
	if !row.CancelRequestedAt.IsZero() {
		beat.Directive = directiveCancel
	}
	return beat, nil
}

// lost is the fault of a token that holds no lease: lease_lost with the job's
// present state, or not_found.
func lost(ctx context.Context, q model.Reader, ownerID, jobID string) error {
	job, err := Get(ctx, q, ownerID, jobID)
	if err != nil {
		return err
	}
	return fault.LeaseLost(job.ID, job.State)
}

package records

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// States of a batch (constraint ingest_batches_state_check): its lines become
// durable from the first to the last, chunk by chunk; accepted, all of them are,
// and the answer is kept.
const (
	BatchProcessing = "processing"
	BatchAccepted   = "accepted"
)

// BatchStates are those two.
var BatchStates = []string{BatchProcessing, BatchAccepted}

// batchLease is how long a batch stays with a sender of which nothing is heard; each
// chunk renews it.
const batchLease = 15 * time.Second

// process begins the holders of this process.
var process = id.New("p")

// batch is one sending of a batch.
type batch struct {
	Target
	device, hash string // hash is of the whole body
	holder       string
}

func newBatch(to Target, device, hash string) *batch {
	return &batch{Target: to, device: device, hash: hash, holder: id.New(process)}
}

// find is the batch as it stands; nil if the connection has none of this id.
func (b *batch) find(ctx context.Context, q model.Reader) (*model.IngestBatch, error) {
	row, err := q.BatchGet(ctx, model.BatchGetParams{ConnectionID: b.ConnectionID, BatchID: b.BatchID, OwnerID: b.OwnerID})
	if store.NotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get batch %s: %w", b.BatchID, err)
	}
	return &row, b.same(&row)
}

// same refuses another body, device or run under the id.
func (b *batch) same(row *model.IngestBatch) error {
	var other string
	switch {
	case row.BodyHash != b.hash:
		other = "body"
	case row.Device != b.device:
		other = "device"
	case deref(row.RunID) != b.RunID:
		other = "run"
	default:
		return nil
	}
	return fault.BatchConflict(other, row.State)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// take begins the batch, or takes over what an earlier sender left, for a connection
// and a run that take lines. An accepted one is returned as it is; one that another
// sender holds is batch_in_progress.
func (b *batch) take(ctx context.Context, q model.Querier, now coltype.Time, mark string) (*model.IngestBatch, error) {
	if row, err := b.find(ctx, q); err != nil || row != nil && row.State == BatchAccepted {
		return row, err
	}
	if _, _, err := admit(ctx, q, b.Target); err != nil {
		return nil, err
	}
	until := now.Add(batchLease)
	_, err := q.BatchInsert(ctx, model.BatchInsertParams{
		ConnectionID: b.ConnectionID, BatchID: b.BatchID, OwnerID: b.OwnerID, Device: b.device, BodyHash: b.hash,
		Rejections: coltype.JSON("[]"), Holder: &b.holder, LeaseExpiresAt: until, RunID: orNil(b.RunID), Now: now,
	})
	if err != nil {
		return nil, fmt.Errorf("begin batch %s: %w", b.BatchID, err)
	}
	_, err = q.BatchTake(ctx, model.BatchTakeParams{
		Holder: &b.holder, LeaseExpiresAt: until, Now: now, ConnectionID: b.ConnectionID, BatchID: b.BatchID, OwnerID: b.OwnerID, Mark: mark,
	})
	if err != nil {
		return nil, fmt.Errorf("take batch %s: %w", b.BatchID, err)
	}
	row, err := b.find(ctx, q)
	switch {
	case err != nil:
		return nil, err
	case row == nil: // swept meanwhile
		return nil, store.ErrRerun
	case row.State == BatchProcessing && deref(row.Holder) != b.holder:
		return nil, fault.BatchInProgress(row.LeaseExpiresAt.Sub(now))
	}
	return row, nil
}

// advance moves the durable prefix on, in the transaction of the lines; another
// sender that took the batch over stops it.
func (b *batch) advance(ctx context.Context, q model.Querier, now coltype.Time, before, tally Tally) error {
	var named coltype.JSON
	if len(tally.Named) > len(before.Named) {
		text, err := json.Marshal(tally.Named)
		if err != nil {
			return fmt.Errorf("encode rejections: %w", err)
		}
		named = text
	}
	n, err := q.BatchAdvance(ctx, model.BatchAdvanceParams{
		DurableLines: tally.Lines, AcceptedCount: tally.Accepted, UnchangedCount: tally.Unchanged, CheckpointCount: tally.Checkpoints,
		RejectedCount: tally.Refused, Rejections: named, LeaseExpiresAt: now.Add(batchLease), Now: now,
		ConnectionID: b.ConnectionID, BatchID: b.BatchID, OwnerID: b.OwnerID, ExpectedDurableLines: before.Lines, Holder: &b.holder,
	})
	return b.held(n, err, "advance")
}

// accept ends the batch with its answer.
func (b *batch) accept(ctx context.Context, q model.Querier, now coltype.Time, tally Tally, answer []byte) error {
	text := string(answer)
	n, err := q.BatchAccept(ctx, model.BatchAcceptParams{
		Answer: &text, Now: now, ConnectionID: b.ConnectionID, BatchID: b.BatchID, OwnerID: b.OwnerID,
		DurableLines: tally.Lines, Holder: &b.holder,
	})
	if err := b.held(n, err, "accept"); err != nil || b.device == "" {
		return err
	}
	return sources.Accepted(ctx, q, now, sources.AcceptedIn{OwnerID: b.OwnerID, ConnectionID: b.ConnectionID, Device: b.device, BatchID: b.BatchID})
}

func (b *batch) held(n int64, err error, verb string) error {
	if err == nil && n == 0 {
		return fault.BatchInProgress(batchLease)
	}
	if err != nil {
		return fmt.Errorf("%s batch %s: %w", verb, b.BatchID, err)
	}
	return nil
}

// release lets another sender go on at once.
func (b *batch) release(ctx context.Context, q model.Querier, now coltype.Time) error {
	_, err := q.BatchRelease(ctx, model.BatchReleaseParams{Now: now, ConnectionID: b.ConnectionID, BatchID: b.BatchID, OwnerID: b.OwnerID, Holder: &b.holder})
	if err != nil {
		return fmt.Errorf("release batch %s: %w", b.BatchID, err)
	}
	return nil
}

// tallyOf is what became of the durable lines of a batch.
func tallyOf(row *model.IngestBatch) (Tally, error) {
	t := Tally{
		Accepted: row.AcceptedCount, Unchanged: row.UnchangedCount, Checkpoints: row.CheckpointCount,
		Refused: row.RejectedCount, Lines: row.DurableLines,
	}
	if err := json.Unmarshal(row.Rejections, &t.Named); err != nil {
		return Tally{}, fmt.Errorf("read the rejections of batch %s: %w", row.BatchID, err)
	}
	return t, nil
}

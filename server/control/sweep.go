package control

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

const (
	// sweepEvery is the interval of the sweep. It is for space alone: a request
	// does not find an expired record, whether it was removed or not.
	sweepEvery = time.Minute
	// sweepBatch is how many records one transaction removes, some 10 ms of work
	// on either engine.
	sweepBatch = 1000
	// dateBatch is how many records one transaction dates: all that the release
	// before left, on most databases. A million in one statement took minutes on
	// PostgreSQL with a busy disk, beyond its statement_timeout; 10,000 stay below
	// the 2 s that others wait for locks, and the 5 s for SQLite's writer.
	dateBatch = 10_000
	// sweepPause stands between two transactions, for others to write.
	sweepPause = 20 * time.Millisecond
	// sweepMost is how many records a pass removes; then the runner begins the
	// next one at once, so that no pass comes near the runner's bound of time.
	sweepMost = 200 * sweepBatch
)

// dated marks in meta, with the time, that the records of the release before
// have got their dates. From then on a record without a date is one of a
// replica of that release that still runs. A later release that finds the mark,
// and no record without a date, may require dates.
const dated = "backfill:idem-times"

// SweepLoop keeps the table of idempotency keys small, in every replica: two
// that sweep at once share the records out.
func SweepLoop(ttl time.Duration) Loop {
	return Loop{Name: "idempotency-sweep", Every: sweepEvery, Batch: sweepMost, Run: func(ctx context.Context, s *store.Store) (int, error) {
		return SweepKeys(ctx, s, ttl)
	}}
}

// SweepKeys gives records without a date, or with one that is yet to come, the
// present time, and removes those kept ttl ago or before. It returns how many it
// changed. It works in short transactions with pauses, so a sweep that is cut off
// keeps the batches that it has committed.
func SweepKeys(ctx context.Context, s *store.Store, ttl time.Duration) (int, error) {
	now, err := s.Time(ctx)
	if err != nil {
		return 0, err
	}
	n, err := dateKeys(ctx, s, now)
	if err == nil {
		var again int
		again, err = dateAnew(ctx, s, now)
		n += again
	}
	if err != nil {
		return n, fmt.Errorf("date idempotency keys: %w", err)
	}
	removed, err := removeKeys(ctx, s, now.Add(-ttl))
	if err != nil {
		return n + removed, fmt.Errorf("remove idempotency keys: %w", err)
	}
	return n + removed, nil
}

// dateKeys dates what has no date, and sets the mark with the statement that
// left none.
func dateKeys(ctx context.Context, s *store.Store, now coltype.Time) (total int, err error) {
	_, err = s.MetaGet(ctx, model.MetaGetParams{Key: dated})
	marked := err == nil
	if err != nil && !store.NotFound(err) {
		return 0, err
	}
	for {
		var n int64
		err := s.Tx(ctx, func(q model.Querier) (err error) {
			n, err = q.IdempotencyKeyDate(ctx, model.IdempotencyKeyDateParams{Now: now, Max: dateBatch})
			if err != nil || n == dateBatch || marked {
				return err
			}
			_, err = q.MetaInsert(ctx, model.MetaInsertParams{Key: dated, Value: now.Format(time.RFC3339Nano)})
			return err
		})
		total += int(n)
		if err != nil || n < dateBatch || !sleep(ctx, sweepPause) {
			return total, err
		}
	}
}

// dateAnew dates what a wrong clock dated later than now, or it would hold its
// answer until then.
func dateAnew(ctx context.Context, s *store.Store, now coltype.Time) (total int, err error) {
	for {
		var n int64
		err := s.Tx(ctx, func(q model.Querier) (err error) {
			n, err = q.IdempotencyKeyDateAnew(ctx, model.IdempotencyKeyDateAnewParams{Now: now, Latest: now.Add(store.Apart), Max: dateBatch})
			return err
		})
		total += int(n)
		if err != nil || n < dateBatch || !sleep(ctx, sweepPause) {
			return total, err
		}
	}
}

// removeKeys removes what was kept at cutoff or before. Each batch goes on
// where the one before ended: the index entries of rows just removed stand until
// a vacuum, and would be read again and again.
func removeKeys(ctx context.Context, s *store.Store, cutoff coltype.Time) (total int, err error) {
	after := coltype.Earliest
	for {
		var gone []coltype.Time
		err := s.Tx(ctx, func(q model.Querier) (err error) {
			gone, err = q.IdempotencyKeySweep(ctx, model.IdempotencyKeySweepParams{Cutoff: cutoff, After: after, Max: sweepBatch})
			return err
		})
		if err != nil {
			return total, err
		}
		total += len(gone)
		for _, at := range gone {
			if at.After(after) {
				after = at
			}
		}
		if len(gone) < sweepBatch || total >= sweepMost || !sleep(ctx, sweepPause) {
			return total, ctx.Err()
		}
	}
}

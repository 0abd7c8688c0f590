package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
)

const (
	// maxRuns bounds how often a transaction runs that keeps losing races.
	maxRuns = 6
	// maxUniqueRuns bounds it for one that meets a row of the same unique key:
	// the first rerun sees the winner's row, unless that was rolled back.
	maxUniqueRuns = 3
	// rollbackWait bounds a ROLLBACK; the connection is closed after it.
	rollbackWait = 2 * time.Second
)

// errClockMoved stops a transaction that could not be told the time.
var errClockMoved = errors.New("wall and monotonic time parted since the transaction began")

// txn is one open transaction of an engine.
type txn interface {
	querier() model.Querier
	exec(ctx context.Context, statement string) error
	commit(ctx context.Context) error
	rollback(ctx context.Context)
}

// Tx runs fn in one transaction and commits it if fn returns nil. The error of
// fn rolls back and is returned as it is; so does a panic, which goes on.
//
// fn may run several times, so it has no effect but through q: the transaction
// is rerun when it lost a race (a serialization failure, a deadlock, a busy
// database, a unique key that another transaction took first: the rerun sees
// that row). A fault that fn returns is final.
//
// If ctx is done before fn returned, nothing is committed. A COMMIT that has
// begun has 5 s of its own; if its outcome cannot be known, the error is the
// fault commit_unknown (503). A writer or connection that cannot be had in
// time is the fault unavailable (503).
func (s *Store) Tx(ctx context.Context, fn func(q model.Querier) error) error {
	for run := 1; ; run++ {
		// A measure that is due is taken now: inside, it would need a second connection.
		if _, err := s.Time(ctx); err != nil {
			return err
		}
		err := s.runTx(ctx, fn)
		s.engine.note(err)
		if err == nil || !again(err, run) || ctx.Err() != nil {
			return Explain(err)
		}
		if pause(ctx, run) != nil {
			return Explain(err)
		}
	}
}

// again reports whether a transaction that ended in err runs once more.
func again(err error, run int) bool {
	var f *fault.Fault
	switch {
	case errors.As(err, &f):
		return false
	case UniqueViolation(err):
		return run < maxUniqueRuns
	case errors.Is(err, errClockMoved):
		return run < maxRuns
	}
	return conflict(err) && run < maxRuns
}

// pause waits up to 5, 10, 20, … ms, so that those who met do not meet again.
func pause(ctx context.Context, run int) error {
	timer := time.NewTimer(rand.N(5 * time.Millisecond << (run - 1)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) runTx(ctx context.Context, fn func(q model.Querier) error) error {
	t, err := s.engine.begin(ctx)
	if err != nil {
		return Explain(err)
	}
	open := true
	defer func() {
		if open {
			rollback(ctx, t)
		}
	}()
	if err := fn(&txQuerier{Querier: t.querier(), txn: t}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	open = false
	return commit(ctx, t, s.waits.Commit)
}

func rollback(ctx context.Context, t txn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWait)
	defer cancel()
	t.rollback(ctx)
}

// commit commits t apart from the request's context: cut off in the middle,
// nobody would know what holds.
func commit(ctx context.Context, t txn, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	err := t.commit(ctx)
	if err != nil && outcomeUnknown(err) {
		return fault.CommitUnknown().Because(err)
	}
	return err
}

// outcomeUnknown reports whether a COMMIT that failed with err may have taken
// effect: its answer was lost, or the disk failed under it. One that was never
// sent has not.
func outcomeUnknown(err error) bool {
	if pgconn.SafeToRetry(err) {
		return false
	}
	return lost(err) || errors.Is(err, context.DeadlineExceeded) || diskFailed(err)
}

// txQuerier is the Querier of one transaction, which Savepoint knows.
type txQuerier struct {
	model.Querier
	txn txn
}

// Savepoint runs fn inside the transaction of q. When fn fails, what it wrote
// is rolled back, the transaction goes on, and the error of fn is returned.
// Savepoints nest.
func Savepoint(ctx context.Context, q model.Querier, fn func() error) error {
	tq, ok := q.(*txQuerier)
	if !ok {
		return fmt.Errorf("savepoint: %T is not the querier of a transaction", q)
	}
	// Savepoints of one name shadow each other, on both engines.
	if err := tq.txn.exec(ctx, "savepoint inner_work"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	if err := fn(); err != nil {
		if undoErr := undo(ctx, tq.txn); undoErr != nil {
			return errors.Join(err, undoErr)
		}
		return err
	}
	if err := tq.txn.exec(ctx, "release savepoint inner_work"); err != nil {
		return fmt.Errorf("release savepoint: %w", err)
	}
	return nil
}

func undo(ctx context.Context, t txn) error {
	for _, statement := range []string{"rollback to savepoint inner_work", "release savepoint inner_work"} {
		if err := t.exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

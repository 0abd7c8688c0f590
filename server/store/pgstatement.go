package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errSilent is a connection on which nothing comes any more, though nobody has
// closed it.
var errSilent = errors.New("the database did not answer on this connection")

// statement is one statement under way. It runs to its end though its caller
// gives up: whoever cancels a statement of PostgreSQL loses its connection, and
// clients that give up often would leave the others without any. What bounds it
// is statement_timeout, and on a connection that is silent the look that is
// taken every pg.doubt.
type statement struct {
	ctx    context.Context
	cancel context.CancelFunc
	conn   *pgConn
	until  time.Time // a bound where the server has none, as behind a pooler
	timer  *time.Timer

	steps   atomic.Int64 // odd while the database is waited for; below 0 at the end
	seen    int64        // steps at the last look
	doubted bool         // at the last look, the server did not work on it
	cut     atomic.Bool
}

// start begins a statement, unless the caller has given up already.
func (c *pgConn) start(ctx context.Context) (*statement, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &statement{conn: c, until: time.Now().Add(c.pg.most)}
	s.ctx, s.cancel = s.apart(ctx)
	s.timer = time.AfterFunc(time.Hour, s.look)
	s.timer.Reset(c.pg.doubt)
	return s, nil
}

// apart is ctx without its cancellation. A deadline of the caller's own holds: it
// stands for how long the answer is of use, as that of a lease.
func (s *statement) apart(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(s.until) {
		return context.WithDeadline(context.WithoutCancel(ctx), deadline)
	}
	return context.WithCancel(context.WithoutCancel(ctx))
}

// wait runs fn, which waits for the database.
func (s *statement) wait(fn func()) {
	s.steps.Add(1)
	fn()
	s.steps.Add(1)
}

// end is called once, when nothing more is read.
func (s *statement) end() {
	s.steps.Store(-1)
	s.timer.Stop()
	s.cancel()
}

// explain says why a statement that was cut failed.
func (s *statement) explain(err error) error {
	if err != nil && s.cut.Load() {
		return fmt.Errorf("%w: %w", errSilent, err)
	}
	return err
}

// look cuts the statement off if the database answers nobody, or if at two looks
// in a row nothing has come and the database does not work on it: at the first its
// answer may be on the way.
func (s *statement) look() {
	step := s.steps.Load()
	if step < 0 {
		return
	}
	if step%2 == 1 && step == s.seen && s.lost() {
		s.cut.Store(true)
		s.cancel()
		return
	}
	if step != s.seen {
		s.seen, s.doubted = step, false
	}
	s.timer.Reset(s.conn.pg.doubt)
}

func (s *statement) lost() bool {
	if time.Now().After(s.until) {
		return true
	}
	works, err := s.conn.pg.beside.worksOn(s.ctx, s.conn.backend())
	if err != nil {
		return true
	}
	before := s.doubted
	s.doubted = !works
	return before && s.doubted
}

// pgRows are the rows of a statement that is watched until they are read or
// closed. The first one is there already: a read that got none may run again.
type pgRows struct {
	pgx.Rows
	statement *statement
	ahead     bool // of the reader, by one row
	done      func(pgconn.CommandTag, error)
}

// query runs a statement until its first row; done is called once, when the
// rows are read or closed, or at once if there are none.
func (s *statement) query(run func(context.Context) (pgx.Rows, error), done func(pgconn.CommandTag, error)) (pgx.Rows, error) {
	r := &pgRows{statement: s, done: done}
	var err error
	s.wait(func() { r.Rows, err = run(s.ctx) })
	if err != nil {
		err = s.explain(err)
		s.end()
		done(pgconn.CommandTag{}, err)
		return nil, err
	}
	r.ahead = r.Next()
	if err := r.Err(); err != nil && !r.ahead {
		return nil, err
	}
	return r, nil
}

func (r *pgRows) Next() bool {
	if r.ahead {
		r.ahead = false
		return true
	}
	if r.done == nil {
		return false
	}
	var more bool
	r.statement.wait(func() { more = r.Rows.Next() })
	if !more {
		r.Close()
	}
	return more
}

func (r *pgRows) Err() error { return r.statement.explain(r.Rows.Err()) }

func (r *pgRows) Close() {
	if r.done == nil {
		return
	}
	r.statement.wait(r.Rows.Close)
	r.statement.end()
	r.done(r.CommandTag(), r.Err())
	r.done = nil
}

// exec runs a statement without rows.
func (s *statement) exec(run func(context.Context) (pgconn.CommandTag, error)) (tag pgconn.CommandTag, err error) {
	defer s.end()
	s.wait(func() { tag, err = run(s.ctx) })
	return tag, s.explain(err)
}

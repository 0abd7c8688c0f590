package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/stint-run/stint/schema"
)

// staleAfter is how long a connection lies idle until it is tried before it is
// taken: its peer may have vanished.
const staleAfter = time.Second

const staleKey = "stint stale"

// noteIdle notes on a connection that is taken whether it is to be tried. The pool
// would try it itself, but keep its place for 15 s if nobody answers.
func noteIdle(_ context.Context, p pgxpool.ShouldPingParams) bool {
	p.Conn.PgConn().CustomData()[staleKey] = p.IdleDuration > staleAfter
	return false
}

// checking is which connections are tried before they are taken.
type checking bool

const (
	asNeeded checking = false // those that lay idle
	always   checking = true
)

// pgConn is a connection taken from the pool.
type pgConn struct {
	*pgxpool.Conn
	pg *pg
}

// deadline is until when one who begins now may wait for a connection.
func (p *pg) deadline() time.Time { return time.Now().Add(p.wait) }

// atLeast is that deadline for a second try, which has some time in any case: the
// first may have run for long before its connection broke.
func (p *pg) atLeast(until time.Time) time.Time {
	if soon := time.Now().Add(p.doubt); soon.After(until) {
		return soon
	}
	return until
}

// acquire takes a connection.
func (p *pg) acquire(ctx context.Context, until time.Time, check checking) (*pgConn, error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if p.gate != nil {
		select {
		case p.gate <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a connection: %w", ctx.Err())
		}
	}
	conn, err := p.take(ctx, check)
	if err != nil {
		p.leave()
		return nil, p.missed(ctx, until, err)
	}
	p.seen.have()
	return &pgConn{Conn: conn, pg: p}, nil
}

// take passes over connections that nobody answers on, and over a session that was
// terminated while it was made: a server that shuts down refuses the next
// connection with another code, so this ends.
func (p *pg) take(ctx context.Context, check checking) (*pgxpool.Conn, error) {
	for {
		conn, err := p.queue.acquire(ctx)
		if schema.SQLState(err) == terminated && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		stale, _ := conn.Conn().PgConn().CustomData()[staleKey].(bool)
		if !stale && check == asNeeded || p.answers(ctx, conn) {
			return conn, nil
		}
		_ = conn.Hijack().Close(ctx) // the pool does not see it any more; nothing is lost with it
	}
}

// answers tries a connection. Where one stays silent the others of the pool, which
// are as old, are closed too: there is not the time to try them one by one.
func (p *pg) answers(ctx context.Context, conn *pgxpool.Conn) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.beside.wait)
	defer cancel()
	err := conn.Conn().Ping(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		p.pool.Reset()
	}
	return err == nil
}

// missed is the error of a wait for a connection that ended in err. It says
// nothing of the database if the caller gave up, or would not wait until then.
func (p *pg) missed(ctx context.Context, until time.Time, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	if ctx.Err() == nil || !time.Now().Before(until) {
		p.seen.miss()
	}
	if errors.Is(err, context.DeadlineExceeded) && p.usedUp() {
		err = fmt.Errorf("%w: %w", errUsedUp, err)
	}
	return fmt.Errorf("take a connection: %w", err)
}

func (p *pg) usedUp() bool {
	s := p.pool.Stat()
	return s.AcquiredConns() >= s.MaxConns()
}

func (p *pg) leave() {
	if p.gate != nil {
		<-p.gate
	}
}

// release gives the connection back after err. After a failover the pool can
// be full of connections to a server that takes no writes any more (25006), or
// that does not answer: all of them are closed, so that the next ones find the new
// primary. A broken one leaves the pool at once: on a line that is cut, closing it
// takes long, and the pool would keep its place until then.
func (c *pgConn) release(err error) {
	defer c.pg.leave()
	if schema.SQLState(err) == readOnlyTransaction || errors.Is(err, errSilent) {
		c.pg.pool.Reset()
	}
	if c.Conn.Conn().IsClosed() {
		c.Conn.Hijack()
		return
	}
	c.Conn.Release()
	c.pg.queue.back()
}

package store

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// connecting is how many connections are made at once. The pool would make one for
// each who finds none, and each would wait for its own, however many others came
// free meanwhile: where a server takes long to let all of them in, as after its
// restart, the last of a burst waited in vain.
const connecting = 4

// pgQueue stands before the pool. Its counts are hints, since connections also end
// by themselves: the pool alone decides.
type pgQueue struct {
	pool *pgxpool.Pool
	idle chan struct{} // holds one for each connection that came back
	make chan struct{} // holds one for each who may make a connection

	waited, nanos atomic.Int64 // how often, and how long, somebody had to wait who had one then
}

func newQueue(pool *pgxpool.Pool) *pgQueue {
	return &pgQueue{pool: pool, idle: make(chan struct{}, pool.Config().MaxConns), make: make(chan struct{}, connecting)}
}

// acquire takes a connection: one that came back, or else a new one.
func (q *pgQueue) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	select {
	case <-q.idle:
		return q.pool.Acquire(ctx)
	default:
	}
	began, none := time.Now(), q.pool.Stat().IdleConns() == 0
	conn, err := q.wait(ctx)
	if err == nil && none {
		q.waited.Add(1)
		q.nanos.Add(int64(time.Since(began)))
	}
	return conn, err
}

func (q *pgQueue) wait(ctx context.Context) (*pgxpool.Conn, error) {
	select {
	case <-q.idle:
	case q.make <- struct{}{}:
		defer func() { <-q.make }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return q.pool.Acquire(ctx)
}

// back is called when a connection is given back.
func (q *pgQueue) back() {
	select {
	case q.idle <- struct{}{}:
	default:
	}
}

package store

import (
	"context"
	"sync/atomic"
	"time"
)

// Stats counts what one request asks of the database. Only generated
// statements count: BEGIN, COMMIT, SAVEPOINT and the clock do not. Statements
// of a transaction that was rerun count once per run.
type Stats struct{ statements, nanos atomic.Int64 }

type statsKey struct{}

// WithStats is ctx with a fresh Stats in it, and that Stats.
func WithStats(ctx context.Context) (context.Context, *Stats) {
	st := new(Stats)
	return context.WithValue(ctx, statsKey{}, st), st
}

// Uncounted is ctx without a Stats: for what every request pays, such as
// authentication, and no budget of statements counts.
func Uncounted(ctx context.Context) context.Context {
	return context.WithValue(ctx, statsKey{}, (*Stats)(nil))
}

// statsOf is the Stats found in ctx; nil, which counts nothing, without one.
func statsOf(ctx context.Context) *Stats {
	st, _ := ctx.Value(statsKey{}).(*Stats)
	return st
}

// Statements is the number of statements so far.
func (st *Stats) Statements() int64 {
	if st == nil {
		return 0
	}
	return st.statements.Load()
}

// Duration is the time spent in statements so far: on PostgreSQL until their
// last row was read, on SQLite until the first row stood.
func (st *Stats) Duration() time.Duration {
	if st == nil {
		return 0
	}
	return time.Duration(st.nanos.Load())
}

// count notes the start of a statement; the function returned notes its end.
func count(ctx context.Context) (done func()) {
	st := statsOf(ctx)
	if st == nil {
		return func() {}
	}
	st.statements.Add(1)
	start := time.Now()
	return func() { st.nanos.Add(int64(time.Since(start))) }
}

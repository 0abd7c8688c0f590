package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// pgWrites counts the statements of a transaction.
type pgWrites struct{ t *pgTx }

func (d pgWrites) Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	defer count(ctx)()
	return d.t.run(ctx, query, args...)
}

func (d pgWrites) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	s, err := d.t.conn.start(ctx)
	if err != nil {
		return nil, err
	}
	done := count(ctx)
	return s.query(func(ctx context.Context) (pgx.Rows, error) { return d.t.tx.Query(ctx, query, args...) },
		func(tag pgconn.CommandTag, err error) { done(); _ = d.t.note(tag, err) })
}

func (d pgWrites) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	rows, err := d.Query(ctx, query, args...)
	return oneRow{rows, err}
}

// pgReads takes a connection per statement, and counts.
type pgReads struct{ pg *pg }

func (d pgReads) Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	rows, err := d.Query(ctx, query, args...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	rows.Close()
	return rows.CommandTag(), rows.Err()
}

// Query runs a statement, and once more if its connection broke before the first
// row: after a restart, a failover or a cut line all that lie in the pool are as
// broken, so the second one is tried, or made, before it is taken.
func (d pgReads) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	until := d.pg.deadline()
	rows, took, err := d.once(ctx, until, asNeeded, query, args)
	if err == nil || !took || !lost(err) {
		return rows, err
	}
	rows, _, err = d.once(ctx, d.pg.atLeast(until), always, query, args)
	return rows, err
}

// once tells too whether it took a connection.
func (d pgReads) once(ctx context.Context, until time.Time, check checking, query string, args []any) (rows pgx.Rows, took bool, err error) {
	conn, err := d.pg.acquire(ctx, until, check)
	if err != nil {
		return nil, false, err
	}
	s, err := conn.start(ctx)
	if err != nil {
		conn.release(nil)
		return nil, false, err
	}
	done := count(ctx)
	rows, err = s.query(func(ctx context.Context) (pgx.Rows, error) { return conn.Query(ctx, query, args...) },
		func(_ pgconn.CommandTag, err error) { done(); conn.release(err) })
	return rows, true, err
}

func (d pgReads) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	rows, err := d.Query(ctx, query, args...)
	return oneRow{rows, err}
}

// oneRow reads the first of some rows, and is the error of the query if that
// came first.
type oneRow struct {
	rows pgx.Rows
	err  error
}

func (r oneRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close() // a statement can fail after its first row
	return r.rows.Err()
}

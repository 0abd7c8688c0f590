package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// pgWrites counts the statements of a transaction.
type pgWrites struct{ t *pgTx }

func (d pgWrites) Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	defer count(ctx)()
	tag, err := d.t.tx.Exec(ctx, query, args...)
	return tag, d.t.note(err)
}

func (d pgWrites) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	done := count(ctx)
	rows, err := d.t.tx.Query(ctx, query, args...)
	return finish(rows, err, func(err error) { done(); _ = d.t.note(err) })
}

func (d pgWrites) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	rows, err := d.Query(ctx, query, args...)
	return oneRow{rows, err}
}

// pgReads takes a connection per statement, and counts.
type pgReads struct{ pg *pg }

func (d pgReads) Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	defer count(ctx)()
	conn, err := d.pg.acquire(ctx)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := conn.Exec(ctx, query, args...)
	conn.release(err)
	return tag, err
}

func (d pgReads) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	done := count(ctx)
	conn, err := d.pg.acquire(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, query, args...)
	return finish(rows, err, func(err error) { done(); conn.release(err) })
}

func (d pgReads) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	rows, err := d.Query(ctx, query, args...)
	return oneRow{rows, err}
}

// finish calls done once, when the rows are read or closed, or at once if
// there are none.
func finish(rows pgx.Rows, err error, done func(error)) (pgx.Rows, error) {
	if err != nil {
		done(err)
		return nil, err
	}
	return &watchedRows{Rows: rows, done: done}, nil
}

type watchedRows struct {
	pgx.Rows
	done func(error)
}

func (r *watchedRows) Close() {
	r.Rows.Close()
	if r.done != nil {
		r.done(r.Rows.Err())
		r.done = nil
	}
}

func (r *watchedRows) Next() bool {
	more := r.Rows.Next()
	if !more {
		r.Close()
	}
	return more
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

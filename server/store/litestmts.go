package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
)

// liteConn is what the driver's connections can do.
type liteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// liteStmt is what its prepared statements can do.
type liteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// stmtConnector opens connections that keep the generated statements compiled.
// SQLite has no cache of its own: compiling took a third of the CPU time of
// enqueue, claim and finish.
type stmtConnector struct{ driver.Connector }

func (c stmtConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &stmtConn{liteConn: conn.(liteConn), kept: map[string]liteStmt{}}, nil
}

// stmtConn keeps one statement per generated query, so their number is bounded
// by that of the accessors. One that is in use is not in kept: a second use of
// the same query meanwhile compiles its own.
type stmtConn struct {
	liteConn
	kept map[string]liteStmt
}

// generated reports whether sqlc wrote the query.
func generated(query string) bool { return strings.HasPrefix(query, "-- name: ") }

func (c *stmtConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if !generated(query) {
		return c.liteConn.QueryContext(ctx, query, args)
	}
	st, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := st.QueryContext(ctx, args)
	if err != nil {
		return nil, errors.Join(err, c.keep(query, st))
	}
	return &stmtRows{Rows: rows, done: func() error { return c.keep(query, st) }}, nil
}

func (c *stmtConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if !generated(query) {
		return c.liteConn.ExecContext(ctx, query, args)
	}
	st, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := st.ExecContext(ctx, args)
	return result, errors.Join(err, c.keep(query, st))
}

// take is the statement of a query, for the caller alone until it is kept again.
func (c *stmtConn) take(ctx context.Context, query string) (liteStmt, error) {
	if st, ok := c.kept[query]; ok {
		delete(c.kept, query)
		return st, nil
	}
	st, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.(liteStmt), nil
}

func (c *stmtConn) keep(query string, st liteStmt) error {
	if _, ok := c.kept[query]; ok {
		return st.Close()
	}
	c.kept[query] = st
	return nil
}

func (c *stmtConn) Close() error {
	errs := make([]error, 0, len(c.kept)+1)
	for _, st := range c.kept {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.liteConn.Close())...)
}

// stmtRows gives its statement back when it is closed.
type stmtRows struct {
	driver.Rows
	done func() error
}

func (r *stmtRows) Close() error {
	err := r.Rows.Close()
	done := r.done
	r.done = func() error { return nil }
	return errors.Join(err, done())
}

package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

var (
	touchesTable = regexp.MustCompile(`(?i)\b(from|into|update|table|truncate|lock|index|vacuum|analyze)\b`)
	namesRows    = regexp.MustCompile(`(?is)^\s*insert\b.*\$\d|\bwhere\b.*\$\d`)
)

var errUnbound = errors.New("the statement reaches rows of other tests of the shared database: " +
	"name the owner's by an argument ($1), or take dbtest.Whole")

// bound refuses a statement on tables whose rows no argument names.
func bound(query string) error {
	if touchesTable.MatchString(query) && !namesRows.MatchString(query) {
		return errUnbound
	}
	return nil
}

// guard holds the statements of a pool on the shared database to bound. A tracer
// of pgx cannot refuse a statement, but give it a context that has ended.
type guard struct {
	report func(format string, args ...any)
}

// TraceQueryStart is called before each statement.
func (g guard) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	err := bound(data.SQL)
	if err == nil {
		return ctx
	}
	g.report("%s: %v", data.SQL, err)
	ended, end := context.WithCancel(ctx)
	end()
	return ended
}

// TraceQueryEnd makes guard a tracer.
func (guard) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// connectGuarded is connect for a database that may be the shared one.
func connectGuarded(url string, report func(string, ...any)) (*sql.DB, error) {
	if _, yes := shared.Load(url); !yes {
		return connect(url)
	}
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	c.Tracer = guard{report}
	return stdlib.OpenDB(*c), nil
}

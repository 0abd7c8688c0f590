package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"modernc.org/sqlite"
)

const (
	numbersQuery = "-- name: NumberList :many\nselect n from numbers where n > ?1 order by n"
	insertQuery  = "-- name: NumberInsert :execrows\ninsert into numbers (n) values (?1)"
)

// connWithNumbers is a connection that keeps statements, to a table of 1, 2, 3.
func connWithNumbers(t *testing.T) *stmtConn {
	t.Helper()
	connector, err := sqlite.NewConnector("file:" + filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := stmtConnector{connector}.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := conn.(*stmtConn)
	insertNumbers(t, c, "create table numbers (n integer primary key)", 0)
	for n := range 3 {
		insertNumbers(t, c, insertQuery, int64(n+1))
	}
	return c
}

func insertNumbers(t *testing.T, c *stmtConn, query string, n int64) {
	t.Helper()
	if _, err := c.ExecContext(t.Context(), query, []driver.NamedValue{{Ordinal: 1, Value: n}}); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func above(ctx context.Context, t *testing.T, c *stmtConn, n int64) driver.Rows {
	t.Helper()
	rows, err := c.QueryContext(ctx, numbersQuery, []driver.NamedValue{{Ordinal: 1, Value: n}})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// next is the next number; 0 after the last.
func next(t *testing.T, rows driver.Rows) int64 {
	t.Helper()
	dest := make([]driver.Value, 1)
	switch err := rows.Next(dest); err {
	case nil:
		return dest[0].(int64)
	case io.EOF:
		return 0
	default:
		t.Fatal(err)
		return 0
	}
}

func TestGeneratedStatementsAreCompiledOnce(t *testing.T) {
	t.Parallel()
	c := connWithNumbers(t)
	first := c.kept[insertQuery]
	insertNumbers(t, c, insertQuery, 9)
	if first == nil || c.kept[insertQuery] != first || len(c.kept) != 1 {
		t.Errorf("kept %v, then %v", first, c.kept)
	}
	// A statement that failed is as good as before.
	if _, err := c.ExecContext(t.Context(), insertQuery, []driver.NamedValue{{Ordinal: 1, Value: int64(9)}}); err == nil {
		t.Error("the same key went in twice")
	}
	insertNumbers(t, c, insertQuery, 10)
	if rows, err := c.QueryContext(t.Context(), "select 1", nil); err != nil || rows.Close() != nil || len(c.kept) != 1 {
		t.Errorf("%v: a statement that is not generated was kept: %d", err, len(c.kept))
	}
}

// Two reads of one statement at a time have each its own; closing twice, or
// before the end, gives one back once.
func TestAStatementInUseIsNotSharedWithItself(t *testing.T) {
	t.Parallel()
	c := connWithNumbers(t)
	outer := above(t.Context(), t, c, 0)
	var seen []int64
	for n := next(t, outer); n != 0; n = next(t, outer) {
		inner := above(t.Context(), t, c, n)
		seen = append(seen, n, next(t, inner))
		for range 2 {
			if err := inner.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := outer.Close(); err != nil || !slices.Equal(seen, []int64{1, 2, 2, 3, 3, 0}) {
		t.Errorf("saw %v, %v", seen, err)
	}
	if len(c.kept) != 2 {
		t.Errorf("kept %d statements", len(c.kept))
	}
}

// A migration by another process changes what a statement was compiled for.
func TestKeptStatementsFollowTheSchema(t *testing.T) {
	t.Parallel()
	c := connWithNumbers(t)
	for i := range 3 {
		rows := above(t.Context(), t, c, 2)
		if got := next(t, rows); got != 3 || rows.Close() != nil {
			t.Errorf("read %d", got)
		}
		insertNumbers(t, c, fmt.Sprintf("alter table numbers add column c%d text", i), 0)
	}
}

func TestACanceledReadLeavesItsStatementUsable(t *testing.T) {
	t.Parallel()
	c := connWithNumbers(t)
	ctx, cancel := context.WithCancel(t.Context())
	rows := above(ctx, t, c, 0)
	cancel()
	_ = rows.Close()
	if _, err := c.QueryContext(ctx, numbersQuery, []driver.NamedValue{{Ordinal: 1, Value: int64(0)}}); err == nil {
		t.Error("a canceled context was let through")
	}
	again := above(t.Context(), t, c, 1)
	if got := next(t, again); got != 2 || again.Close() != nil {
		t.Errorf("read %d", got)
	}
}

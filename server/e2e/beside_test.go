package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// beside is a connection of the test's own to a server's database.
type beside struct {
	t      *testing.T
	engine string
	query  func(query string, args ...any) [][]any
	exec   func(query string, args ...any)
	// hold runs a statement in a transaction, and keeps that open until release,
	// or the end of the test.
	hold func(statement string) (release func())
}

func lookBeside(t *testing.T, url string) *beside {
	t.Helper()
	db := dbtest.Connect(t, url)
	engine, err := store.EngineOf(url)
	if err != nil {
		t.Fatal(err)
	}
	query := func(query string, args ...any) [][]any {
		t.Helper()
		rows, err := db.QueryContext(context.Background(), query, args...)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer rows.Close()
		return scan(t, rows)
	}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(context.Background(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	hold := func(statement string) func() {
		t.Helper()
		tx, err := db.BeginTx(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		release := sync.OnceFunc(func() { _ = tx.Rollback() })
		t.Cleanup(release)
		if _, err := tx.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		return release
	}
	return &beside{t: t, engine: engine, query: query, exec: exec, hold: hold}
}

// result is what scan needs of the rows of a query.
type result interface {
	Columns() ([]string, error)
	Next() bool
	Scan(...any) error
	Err() error
}

func scan(t *testing.T, rows result) (all [][]any) {
	t.Helper()
	columns, err := rows.Columns()
	for err == nil && rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		err = rows.Scan(into...)
		all = append(all, values)
	}
	if err == nil {
		err = rows.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// number is the first column of a query's only row.
func (d *beside) number(query string, args ...any) int64 {
	d.t.Helper()
	rows := d.query(query, args...)
	if len(rows) != 1 {
		d.t.Fatalf("%s: %d rows, not one", query, len(rows))
	}
	n, ok := rows[0][0].(int64)
	if !ok {
		d.t.Fatalf("%s: not a number", query)
	}
	return n
}

// dump is the rows of a table as text, in the order of their ids.
func (d *beside) dump(table, where string, args ...any) string {
	d.t.Helper()
	var b strings.Builder
	for _, row := range d.query("select * from "+table+" where "+where+" order by 1, 2", args...) {
		fmt.Fprintf(&b, "%s %s\n", table, row)
	}
	return b.String()
}

// story is the row of a job and the rows of its runs.
func (d *beside) story(job string) string {
	d.t.Helper()
	return d.dump("jobs", "id = $1", job) + d.dump("runs", "job_id = $1", job)
}

// lease sets when the lease of a job ends.
func (d *beside) lease(job string, ends coltype.Time) {
	d.t.Helper()
	d.exec("update jobs set lease_expires_at = $1 where id = $2", d.time(ends), job)
}

// time is a time as an argument of exec.
func (d *beside) time(at coltype.Time) any {
	if d.engine == store.Postgres {
		return at.Time // every exec mode knows what that is
	}
	return at
}

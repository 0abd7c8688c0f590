package e2e

import (
	"fmt"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

type storeOf = *store.Store

// scanned is one row as text.
func scanned(t *testing.T, rows interface{ Scan(...any) error }, columns int) string {
	t.Helper()
	values, into := make([]any, columns), make([]any, columns)
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%v", values)
}

// number is the first column of a query.
func number(t *testing.T, s *store.Store, query string, args ...any) int64 {
	t.Helper()
	return dbtest.Get[int64](t, s, query, args...)
}

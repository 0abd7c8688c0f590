package store

import (
	"context"
	"database/sql"
	"testing"

	"github.com/stint-run/stint/gen/model"
)

// ExecForTest runs a statement in the transaction of q.
func ExecForTest(ctx context.Context, q model.Querier, statement string) error {
	return q.(*txQuerier).txn.exec(ctx, statement)
}

// ReadForTest reads one text on a connection of s.
func ReadForTest(ctx context.Context, s *Store, query string) (text string, err error) {
	rows, err := s.engine.versions.QueryContext(ctx, query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		err = rows.Scan(&text)
	}
	return text, err
}

// SleepForTest is what a process finds that slept: its clock is not believed.
func SleepForTest(s *Store) {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	s.clock.at = anchor{}
}

// ConnsForTest is a reader of PRAGMAs for the writer of an SQLite store and for
// each reader, all taken at once until the test ends.
func ConnsForTest(t *testing.T, s *Store) (writer func(string) string, readers []func(string) string) {
	t.Helper()
	on := func(conn *sql.Conn) func(string) string {
		return func(pragma string) (value string) {
			if err := conn.QueryRowContext(t.Context(), "pragma "+pragma).Scan(&value); err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	pool := s.engine.versions.(*sql.DB)
	for range pool.Stats().MaxOpenConnections {
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		readers = append(readers, on(conn))
	}
	tx, err := s.engine.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.rollback(context.Background()) })
	return on(tx.(*liteTx).conn), readers
}

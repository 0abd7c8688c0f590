package store

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stint-run/stint/gen/model"
)

// StaleAfterForTest is a little more than the time after which an idle connection is tried.
const StaleAfterForTest = staleAfter + staleAfter/10

// ExecForTest runs a statement in the transaction of q.
func ExecForTest(ctx context.Context, q model.Querier, statement string) error {
	return q.(*txQuerier).txn.exec(ctx, statement)
}

// ReadForTest reads one text on a pool of a database, after fn.
func ReadForTest(t *testing.T, c Config, query string, fn func(s *Store)) (text string, err error) {
	t.Helper()
	s, pool := openForTest(t, c)
	fn(s)
	err = pool.QueryRowContext(t.Context(), query).Scan(&text)
	return text, err
}

// openForTest is a store with the product's settings, and the pool that it reads
// with.
func openForTest(t *testing.T, c Config) (*Store, *sql.DB) {
	t.Helper()
	c.Waits = c.Waits.Or(productWaits)
	clock, err := newClock(nil)
	if err != nil {
		t.Fatal(err)
	}
	if kind, _ := EngineOf(c.URL); kind == Postgres {
		p, err := openPostgres(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.close)
		return newStore(p.engine(), p.engine(), clock, c.Waits), stdlib.OpenDBFromPool(p.pool)
	}
	if c.Readers == 0 {
		c.Readers = 1
	}
	l, err := openSQLite(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return newStore(l.engine(), l.engine(), clock, c.Waits), l.reader
}

// SleepForTest is what a process finds that slept: its clock is not believed.
func SleepForTest(s *Store) {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	s.clock.at = anchor{}
}

// ConnsForTest is a reader of PRAGMAs for the writer of an SQLite database and for
// each reader, all taken at once until the test ends.
func ConnsForTest(t *testing.T, c Config) (writer func(string) string, readers []func(string) string) {
	t.Helper()
	on := func(conn *sql.Conn) func(string) string {
		return func(pragma string) (value string) {
			if err := conn.QueryRowContext(t.Context(), "pragma "+pragma).Scan(&value); err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	s, pool := openForTest(t, c)
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

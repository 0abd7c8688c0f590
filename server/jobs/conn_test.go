package jobs_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/gen/postgres"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// storeConfig opens the database of d once more.
func storeConfig(d *fixture) store.Config {
	d.Helper()
	return store.Config{URL: dbtest.URLOf(d.T, d.Store)}
}

// storeOf opens a fresh database of one engine.
func storeOf(t *testing.T, engine string) store.Config {
	t.Helper()
	return store.Config{URL: dbtest.Whole(t, engine)}
}

// pgConn is one connection of its own to the PostgreSQL database of s.
func pgConn(t *testing.T, s *store.Store) (*pgx.Conn, *postgres.Queries) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dbtest.URLOf(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn, postgres.New(conn)
}

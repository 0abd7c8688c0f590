package dbname

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A process that was killed dropped nothing; its lock is free, and the next
// process drops its databases. Here a connection stands for the process.
func TestDatabasesAreDroppedOnceTheirProcessHasEnded(t *testing.T) {
	t.Parallel()
	other, conn := connect(t), connect(t)
	const number = int32(0x7ffffffe)
	name := fmt.Sprintf("%s%08x_1", prefix, number)
	exec(t, other, fmt.Sprintf("select pg_advisory_lock(%d, %d)", lockClass, number))
	exec(t, other, "create database "+name+" template template0")
	if !swept(t, conn, name) {
		t.Error("the database of a living process was dropped")
	}
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The server ends a session some time after its client has closed it, and the
	// sweep of another test process may be at work on this database.
	tick, late := time.NewTicker(20*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for swept(t, conn, name) {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("the database of a process that ended is still there")
		}
	}
}

// swept drops orphans, and reports whether a database is still there.
func swept(t *testing.T, conn *pgx.Conn, name string) (there bool) {
	t.Helper()
	err := dropOrphans(t.Context(), conn)
	if err == nil {
		err = conn.QueryRow(t.Context(), "select exists (select from pg_database where datname = $1)", name).Scan(&there)
	}
	if err != nil {
		t.Fatal(err)
	}
	return there
}

func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	server := os.Getenv("STINT_TEST_POSTGRES")
	if server == "" {
		t.Fatal("no PostgreSQL for the tests: run `make test`, or set STINT_TEST_POSTGRES")
	}
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // it may be closed
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

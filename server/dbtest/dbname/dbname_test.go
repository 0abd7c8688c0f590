package dbname

import (
	"context"
	"fmt"
	"os"
	"testing"

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
	sweep := func(want bool) {
		t.Helper()
		if err := dropOrphans(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
		var there bool
		err := conn.QueryRow(t.Context(), "select exists (select from pg_database where datname = $1)", name).Scan(&there)
		if err != nil || there != want {
			t.Errorf("the database is there: %v, want %v; %v", there, want, err)
		}
	}
	sweep(true)
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	sweep(false)
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

package dbtest

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
	ctx := t.Context()
	other, err := pgx.Connect(ctx, os.Getenv(serverVariable))
	if err != nil {
		t.Fatal(server(t), err)
	}
	const number = int32(0x7ffffffe)
	if _, err := other.Exec(ctx, "select pg_advisory_lock($1, $2)", int32(lockClass), number); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("%s%08x_1", namePrefix, number)
	if err := run(server(t), "create database "+name+" template template0"); err != nil {
		t.Fatal(err)
	}
	sweep := func(want bool) {
		t.Helper()
		err := within(server(t), func(ctx context.Context, conn *pgx.Conn) error {
			var there bool
			err := dropOrphans(ctx, conn)
			if err == nil {
				err = conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&there)
			}
			if err == nil && there != want {
				err = fmt.Errorf("the database is there: %v, want %v", there, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	sweep(true)
	if err := other.Close(ctx); err != nil {
		t.Fatal(err)
	}
	sweep(false)
}

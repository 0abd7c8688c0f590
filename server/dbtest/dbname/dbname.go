// Package dbname names the PostgreSQL databases of tests, so that they do not
// outlive a test process that was killed. It stands apart from dbtest for the
// tests in package schema, which dbtest imports.
package dbname

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// A database's name begins with this prefix and the number of the process that
// made it. The process holds the advisory lock (lockClass, number) for as long
// as it lives, however it ends; so the databases of a free number are orphans.
const (
	prefix    = "stint_test_"
	lockClass = 0x7374
)

// process is this process, once it has made a name.
var process struct {
	sync.Mutex
	keeper *pgx.Conn // holds its lock until the process ends
	number int32
	made   int // databases
}

// Next names one more database of this process, on the server at a URL. The
// first call drops what ended processes left there.
func Next(server string) (string, error) {
	process.Lock()
	defer process.Unlock()
	if process.keeper == nil {
		if err := begin(server); err != nil {
			return "", err
		}
	}
	if process.keeper.IsClosed() {
		return "", fmt.Errorf("the connection that holds this process's lock is gone")
	}
	process.made++
	return fmt.Sprintf("%s%08x_%d", prefix, process.number, process.made), nil
}

// begin takes the number of this process.
func begin(server string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect to the server of the tests: %w", err) // pgx hides the password
	}
	number := rand.Int32()
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1, $2)", int32(lockClass), number); err != nil {
		return fmt.Errorf("take the lock of this process: %w", err)
	}
	process.keeper, process.number = conn, number
	return dropOrphans(ctx, conn)
}

// dropOrphans drops the databases of processes that have ended. One that cannot
// be dropped now, as with a prepared transaction in it, is left to a later run.
func dropOrphans(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, "select datname from pg_database where starts_with(datname, $1)", prefix)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range names {
		number, ok := maker(name)
		if !ok {
			continue
		}
		var ended bool
		if err := conn.QueryRow(ctx, "select pg_try_advisory_lock($1, $2)", int32(lockClass), number).Scan(&ended); err != nil {
			return err
		}
		if !ended {
			continue
		}
		_, _ = conn.Exec(ctx, "drop database if exists "+name+" with (force)")
		if _, err := conn.Exec(ctx, "select pg_advisory_unlock($1, $2)", int32(lockClass), number); err != nil {
			return err
		}
	}
	return nil
}

// maker is the number of the process that made a database.
func maker(name string) (int32, bool) {
	digits, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "_")
	number, err := strconv.ParseInt(digits, 16, 32)
	return int32(number), err == nil && len(digits) == 8
}

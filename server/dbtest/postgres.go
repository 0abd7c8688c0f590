package dbtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/server/store"
)

const serverVariable = "STINT_TEST_POSTGRES"

// server is the URL of the PostgreSQL server of the tests.
func server(t *testing.T) string {
	t.Helper()
	raw := os.Getenv(serverVariable)
	if raw == "" {
		t.Fatal("no PostgreSQL for the tests: run `make test`, or set " + serverVariable)
	}
	return raw
}

// database is the URL of another database of the same server.
func database(admin, name string) string {
	u, err := url.Parse(admin)
	if err != nil {
		panic(serverVariable + " is not a URL")
	}
	u.Path = "/" + name
	return u.String()
}

// within runs fn on a connection of its own.
func within(raw string, fn func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, raw)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", store.Redact(raw), err)
	}
	defer conn.Close(ctx)
	return fn(ctx, conn)
}

// A database's name begins with this prefix and the number of the process that
// made it. The process holds the advisory lock (lockClass, number) for as long
// as it lives, however it ends; so the databases of a free number are orphans.
const (
	namePrefix = "stint_test_"
	lockClass  = 0x7374
)

var made atomic.Int64

// nextName names one more database of this process.
func nextName() (string, error) {
	number, err := process()
	if err == nil && keeper.IsClosed() {
		err = fmt.Errorf("the connection that holds this process's lock is gone")
	}
	return fmt.Sprintf("%s%08x_%d", namePrefix, number, made.Add(1)), err
}

// keeper holds this process's lock, until the process ends.
var keeper *pgx.Conn

// process is the number of this process, which it takes at the first call, after
// it dropped what ended processes left.
var process = sync.OnceValues(func() (int32, error) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, os.Getenv(serverVariable))
	if err != nil {
		return 0, fmt.Errorf("connect to %s: %w", store.Redact(os.Getenv(serverVariable)), err)
	}
	keeper = conn
	number := rand.Int32()
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1, $2)", int32(lockClass), number); err != nil {
		return 0, fmt.Errorf("take the lock of this process: %w", err)
	}
	return number, dropOrphans(ctx, conn)
})

// dropOrphans drops the databases of processes that have ended. One that cannot
// be dropped now, as with a prepared transaction in it, is left to a later run.
func dropOrphans(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, "select datname from pg_database where starts_with(datname, $1)", namePrefix)
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
	digits, _, _ := strings.Cut(strings.TrimPrefix(name, namePrefix), "_")
	number, err := strconv.ParseInt(digits, 16, 32)
	return int32(number), err == nil && len(digits) == 8
}

// makeFor makes a database that is dropped when the test ends.
func makeFor(t *testing.T, template string) string {
	t.Helper()
	admin := server(t)
	name, err := create(admin, template)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(admin, name); err != nil {
			t.Error(err)
		}
	})
	return database(admin, name)
}

// create makes a database as a copy of another.
func create(admin, template string) (string, error) {
	name, err := nextName()
	if err != nil {
		return "", err
	}
	return name, run(admin, "create database "+name+" template "+template)
}

func drop(admin, name string) error {
	return run(admin, "drop database if exists "+name+" with (force)")
}

func run(raw, statement string) error {
	return within(raw, func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		return nil
	})
}

// sharedURL names the shared database, which the first call makes.
var sharedURL = sync.OnceValues(func() (string, error) {
	admin := os.Getenv(serverVariable)
	template, err := postgresTemplate(admin)
	if err != nil {
		return "", err
	}
	name, err := create(admin, template)
	if err != nil {
		return "", err
	}
	url := database(admin, name)
	db, err := connect(url)
	shared.Store(url, db)
	return url, err
})

// openShared opens the store on the shared database, which ends with the process.
var openShared = sync.OnceValues(func() (*store.Store, error) {
	url, err := sharedURL()
	if err != nil {
		return nil, err
	}
	return store.Open(context.Background(), settings(store.Config{URL: url}))
})

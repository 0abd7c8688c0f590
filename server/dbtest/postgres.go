package dbtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/server/dbtest/dbname"
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
	name, err := dbname.Next(admin)
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

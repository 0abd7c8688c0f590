package dbtest

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/stint-run/stint/server/store"
)

// connect opens a database by its store URL with database/sql.
func connect(raw string) (*sql.DB, error) {
	path, lite := strings.CutPrefix(raw, "sqlite:")
	if !lite {
		return sql.Open("pgx", raw)
	}
	file := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(60000)", "foreign_keys(1)"},
	}.Encode()}
	return sql.Open("sqlite", file.String())
}

// DB is a pool of its own to the database of s, for tests that plant rows no
// accessor would write, or look at plans. On SQLite it behaves as a second
// process does: it waits for the store's writer, and the writer for it.
func DB(t *testing.T, s *store.Store) *sql.DB {
	t.Helper()
	return Connect(t, URLOf(t, s))
}

// Connect is DB by the URL of a database.
func Connect(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := connectGuarded(url, t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// SQL runs one statement beside the store. Placeholders are $1, $2, … on
// PostgreSQL and ?1, ?2, … on SQLite ($1 works there too). On the shared
// database an argument must name the rows: it has those of other tests too.
func SQL(t *testing.T, s *store.Store, query string, args ...any) {
	t.Helper()
	beside(t, URLOf(t, s), func(db *sql.DB) error {
		_, err := db.ExecContext(t.Context(), query, args...)
		return err
	}, query)
}

// Past moves the times of a column into the past, in every row that has one.
func Past(t *testing.T, s *store.Store, table, column string, by time.Duration) {
	t.Helper()
	earlier := fmt.Sprintf("%s - %d", column, by.Microseconds())
	if s.Engine() == store.Postgres {
		earlier = fmt.Sprintf("%s - interval '%d seconds'", column, int64(by.Seconds()))
	}
	SQL(t, s, "update "+table+" set "+column+" = "+earlier+" where "+column+" is not null")
}

// Plant is SQL by URL, for a database that no store has open.
func Plant(t *testing.T, url, query string, args ...any) {
	t.Helper()
	beside(t, url, func(db *sql.DB) error {
		_, err := db.ExecContext(t.Context(), query, args...)
		return err
	}, query)
}

// Get reads the first column of the first row of a query; it fails the test if
// there is none.
func Get[T any](t *testing.T, s *store.Store, query string, args ...any) (value T) {
	t.Helper()
	beside(t, URLOf(t, s), func(db *sql.DB) error {
		return db.QueryRowContext(t.Context(), query, args...).Scan(&value)
	}, query)
	return value
}

// shared is the pool of what the package's tests do beside their store on the
// shared database, by its URL.
var shared sync.Map // string → *sql.DB

// beside runs fn on that pool, or on one of its own.
func beside(t *testing.T, url string, fn func(db *sql.DB) error, query string) {
	t.Helper()
	if err := besideURL(url, fn, query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func besideURL(url string, fn func(db *sql.DB) error, query string) error {
	if db, ok := shared.Load(url); ok {
		if err := bound(query); err != nil {
			return err
		}
		return fn(db.(*sql.DB))
	}
	db, err := connect(url)
	if err != nil {
		return err
	}
	return errors.Join(fn(db), db.Close())
}

// Package dbtest gives every test a migrated database on both engines.
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		dbtest.Each(t, func(t *testing.T, s *store.Store) {
//			owner := dbtest.Owner(t, s, "ada")
//			…
//		})
//	}
//
// There are three kinds of database, and a test takes the first that it can:
//
//   - Shared: one for all tests of a package, each under an owner of its own.
//   - Whole: for one test at a time, and empty when it begins; for what is about
//     the clock or all owners, such as reapers, sweeps and counts.
//   - Fresh: made for the test and dropped after it; for what changes or measures
//     the database itself: its schema, its settings, its size, what a statement
//     costs.
//
// On SQLite each of them is a file of the test's own: copying one costs less
// than emptying it.
//
// PostgreSQL is found by STINT_TEST_POSTGRES, the URL of a role that may create
// databases; `make test` sets it. The schema is applied once per server and
// schema (PostgreSQL) or process (SQLite), and copied. What a test process
// leaves behind on the server, the next one drops.
package dbtest

import (
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

// T0 is the instant at which tests take place.
var T0 = coltype.At(time.Date(2026, time.March, 4, 5, 6, 7, 890_123_000, time.UTC))

// LongWaits are the waits of every store that dbtest opens, unless the test sets
// its own: a slow machine fails no test.
var LongWaits = store.Waits{
	Conn: time.Minute, Lock: time.Minute, Statement: 2 * time.Minute,
	Writer: time.Minute, Read: time.Minute, Commit: time.Minute,
}

// Each runs fn as the subtests "sqlite" and "postgres", in parallel, each on the
// shared database. The store's clock is the test's own.
func Each(t *testing.T, fn func(t *testing.T, s *store.Store)) {
	t.Helper()
	Engines(t, func(t *testing.T, engine string) {
		if engine == store.Postgres {
			fn(t, sharedStore(t))
			return
		}
		fn(t, Open(t, store.Config{URL: Shared(t, engine)}))
	})
}

// EachWhole is Each on a whole database.
func EachWhole(t *testing.T, fn func(t *testing.T, s *store.Store)) {
	t.Helper()
	EachWith(t, Whole, store.Config{}, fn)
}

// EachFresh is Each on a fresh database.
func EachFresh(t *testing.T, fn func(t *testing.T, s *store.Store)) {
	t.Helper()
	EachWith(t, Fresh, store.Config{}, fn)
}

// EachWith is Each on a database that one of Shared, Whole, Fresh and Empty
// names, with a store and settings of the test's own; the URL is filled in.
func EachWith(t *testing.T, url func(*testing.T, string) string, c store.Config, fn func(t *testing.T, s *store.Store)) {
	t.Helper()
	Engines(t, func(t *testing.T, engine string) {
		own := c // the subtests run at once
		own.URL = url(t, engine)
		fn(t, Open(t, own))
	})
}

// Engines runs fn as a subtest for each engine, in parallel.
func Engines(t *testing.T, fn func(t *testing.T, engine string)) {
	t.Helper()
	for _, engine := range []string{store.SQLite, store.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			fn(t, engine)
		})
	}
}

// Shared is the URL of the database that the tests of this process share.
func Shared(t *testing.T, engine string) string {
	t.Helper()
	if engine == store.SQLite {
		return copyTemplate(t)
	}
	server(t)
	return must(t)(sharedURL())
}

// Whole is the URL of a database without rows that no other test uses until
// this one ends. The test may leave rows in it, but changes nothing else.
func Whole(t *testing.T, engine string) string {
	t.Helper()
	if engine == store.SQLite {
		return copyTemplate(t)
	}
	return takeWhole(t)
}

// Fresh is the URL of a migrated database that is made for the test and dropped
// after it.
func Fresh(t *testing.T, engine string) string {
	t.Helper()
	if engine == store.SQLite {
		return copyTemplate(t)
	}
	return makeFor(t, must(t)(postgresTemplate(server(t))))
}

// Empty is Fresh without any table.
func Empty(t *testing.T, engine string) string {
	t.Helper()
	if engine == store.SQLite {
		return "sqlite:" + t.TempDir() + "/empty.db"
	}
	return makeFor(t, "template0")
}

// Latin1 is an empty PostgreSQL database of another encoding than UTF8.
func Latin1(t *testing.T) string {
	t.Helper()
	return makeFor(t, "template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'")
}

// must is a function that returns a value, or fails the test by its error.
func must(t *testing.T) func(value string, err error) string {
	return func(value string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// Open opens a store until the test ends, and remembers its URL for DB. Zero
// settings are those of tests: few connections, long waits, no flush to disk.
func Open(t *testing.T, c store.Config) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), settings(c))
	if err != nil {
		t.Fatal(err)
	}
	opened.Store(s, c.URL)
	t.Cleanup(func() {
		s.Close()
		opened.Delete(s)
	})
	return s
}

func settings(c store.Config) store.Config {
	if c.MaxConns == 0 {
		c.MaxConns = 8 // many tests share one server
	}
	c.Waits = c.Waits.Or(LongWaits)
	if c.Durability == "" {
		c.Durability = store.Normal
	}
	return c
}

var opened sync.Map // *store.Store → URL

// URLOf is the URL of the database that a store of this package has open.
func URLOf(t *testing.T, s *store.Store) string {
	t.Helper()
	url, ok := opened.Load(s)
	if !ok {
		t.Fatal("the store was not opened by dbtest")
	}
	return url.(string)
}

// sharedStore is the test's view of the one store on the shared database: opened
// per test, its connections would cost more than most tests do.
func sharedStore(t *testing.T) *store.Store {
	t.Helper()
	url := Shared(t, store.Postgres)
	s, err := openShared()
	if err != nil {
		t.Fatal(err)
	}
	view := s.View()
	opened.Store(view, url)
	t.Cleanup(func() { opened.Delete(view) })
	return view
}

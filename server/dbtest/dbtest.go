// Package dbtest gives every test a fresh, migrated database on both engines.
//
//	func TestSomething(t *testing.T) {
//		t.Parallel()
//		dbtest.Each(t, func(t *testing.T, s *store.Store) {
//			owner := dbtest.Owner(t, s, "ada")
//			…
//		})
//	}
//
// PostgreSQL is found by STINT_TEST_POSTGRES, the URL of a role that may create
// databases; `make test` sets it. The schema is applied once per server and
// schema (PostgreSQL) or process (SQLite), and copied for each test.
package dbtest

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/store"
)

// T0 is the instant at which tests take place.
var T0 = coltype.At(time.Date(2026, time.March, 4, 5, 6, 7, 890_123_000, time.UTC))

// Each runs fn as the subtests "sqlite" and "postgres", in parallel, each on a
// fresh migrated database that is gone when the subtest ends.
func Each(t *testing.T, fn func(t *testing.T, s *store.Store)) {
	t.Helper()
	EachWith(t, store.Config{}, fn)
}

// EachWith is Each with settings of the store; the URL is filled in.
func EachWith(t *testing.T, c store.Config, fn func(t *testing.T, s *store.Store)) {
	t.Helper()
	for _, engine := range []string{store.SQLite, store.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			own := c // the subtests run at once
			own.URL = URL(t, engine)
			fn(t, Open(t, own))
		})
	}
}

// URL names a fresh migrated database of an engine, for tests that open it
// themselves or hand it to another process.
func URL(t *testing.T, engine string) string {
	t.Helper()
	if engine == store.SQLite {
		return sqliteURL(t)
	}
	return postgresURL(t)
}

// Empty names a fresh database of an engine without any table.
func Empty(t *testing.T, engine string) string {
	t.Helper()
	if engine == store.SQLite {
		return "sqlite:" + t.TempDir() + "/empty.db"
	}
	return createDatabase(t, "template0")
}

// Open opens a store until the test ends, and remembers its URL for DB.
func Open(t *testing.T, c store.Config) *store.Store {
	t.Helper()
	if c.MaxConns == 0 {
		c.MaxConns = 8 // many tests share one server
	}
	s, err := store.Open(t.Context(), c)
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

// DB is a door of its own to the database of s, for tests that plant rows no
// accessor would write, or look at plans. On SQLite it is a second process's
// view: it waits for the store's writer, and the writer for it.
func DB(t *testing.T, s *store.Store) *sql.DB {
	t.Helper()
	db, err := connect(URLOf(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// SQL runs one statement through a door of its own. Placeholders are $1, $2, …
// on PostgreSQL and ?1, ?2, … on SQLite ($1 works there too).
func SQL(t *testing.T, s *store.Store, query string, args ...any) {
	t.Helper()
	if _, err := DB(t, s).ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// Plant runs one statement on a database that no store has open, or could open.
func Plant(t *testing.T, url, query string) {
	t.Helper()
	db, err := connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// Get reads the first column of the first row of a query; it fails the test if
// there is none.
func Get[T any](t *testing.T, s *store.Store, query string, args ...any) T {
	t.Helper()
	var value T
	if err := DB(t, s).QueryRowContext(t.Context(), query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// Owner makes an owner of that name, with its rows for the built-in kinds.
func Owner(t *testing.T, s *store.Store, name string) model.Owner {
	t.Helper()
	owner := model.Owner{ID: id.New("own"), Name: name, CreatedAt: T0}
	err := s.Tx(t.Context(), func(q model.Querier) error { return insertOwner(t.Context(), q, owner) })
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

// insertOwner does what control.CreateOwner does, which this package cannot
// import without barring itself from control's own tests; a test there
// compares the two.
func insertOwner(ctx context.Context, q model.Querier, owner model.Owner) error {
	if _, err := q.OwnerInsert(ctx, owner); err != nil {
		return err
	}
	for _, kind := range []string{"discover", "implement", "review", "sync"} {
		_, err := q.KindInsert(ctx, model.KindInsertParams{
			OwnerID: owner.ID, Name: kind, LeaseSeconds: 60, MaxAttempts: 5,
			BackoffBaseSeconds: 5, BackoffCapSeconds: 3600, CreatedAt: owner.CreatedAt,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Clock is a clock that a test sets.
type Clock struct {
	mu  sync.Mutex
	now coltype.Time
}

// Freeze stops the clock of s at T0, for tests that come in over HTTP.
func Freeze(s *store.Store) *Clock {
	c := &Clock{now: T0}
	s.SetClock(c.Now)
	return c
}

// Now is the time the clock was set to.
func (c *Clock) Now() coltype.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

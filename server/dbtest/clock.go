package dbtest

import (
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

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

// Ahead is the URL of a fresh PostgreSQL, and what sets its clock forward: replicas
// that have measured its time do not hear of it.
func Ahead(t *testing.T) (url string, forward func()) {
	t.Helper()
	plain := Fresh(t, store.Postgres)
	for _, statement := range []string{
		"create schema ahead", "create table ahead.clock (by interval)", "insert into ahead.clock values ('0')",
		`create function ahead.clock_timestamp() returns timestamptz language sql as 'select pg_catalog.clock_timestamp() + by from ahead.clock'`,
	} {
		Plant(t, plain, statement)
	}
	return plain + "&search_path=ahead,pg_catalog,public", func() {
		t.Helper()
		Plant(t, plain, "update ahead.clock set by = '2 days'")
	}
}

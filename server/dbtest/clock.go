package dbtest

import (
	"sync"
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

package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stint-run/stint/schema/coltype"
)

const (
	// RemeasureEvery is how often the loop runner should call Remeasure.
	RemeasureEvery = 30 * time.Second

	// maxAge is when a reading takes the measure itself, because no pass did.
	maxAge = 2 * RemeasureEvery
	// maxDrift is how far wall and monotonic progress may part before the
	// carried time is no longer believed: a VM slept, or the wall was set.
	maxDrift = 250 * time.Millisecond
	// maxSlew is how far a new measure may lie behind a time already given
	// before time is let step back; below it, time stands still instead.
	maxSlew = time.Second
	// A round trip above goodTrip is tried again: its half is the error.
	goodTrip = 50 * time.Millisecond
	tries    = 3
	// failureLife is how long a failed measure answers whoever asks next: the
	// requests that meet a database that is away must not ask it one by one.
	failureLife = time.Second
)

// Apart is more than the times that two replicas tell at one moment are apart. A
// time of another replica that lies further ahead was told by a clock that was
// wrong, or written by hand.
const Apart = time.Minute

// NotBefore is now, or the last time that was written to a row, if another replica
// that is a little ahead wrote that: the times of a row do not go back.
func NotBefore(now, last coltype.Time) coltype.Time {
	if last.After(now.Add(Apart)) {
		return now
	}
	return coltype.Later(now, last)
}

// Clock tells one time on every replica: the database's, carried by this
// process's monotonic clock between measures. On SQLite it tells the wall
// clock, which never steps back within a process.
type Clock struct {
	// read gives the wall clock and the monotonic clock at one instant.
	read func() (wall time.Time, mono time.Duration)
	// measure asks for the time; nil on SQLite, where the wall clock is it.
	measure func(ctx context.Context) (time.Time, error)

	asking chan struct{} // holds the one who measures
	mu     sync.Mutex    // guards what follows
	at     anchor
	last   time.Time
	failed failure
	fixed  func() coltype.Time
}

// failure is the last measure's error, and when it came.
type failure struct {
	err error
	at  time.Duration
}

// anchor ties one measured time to both clocks of the process. Its zero value
// means that nothing was measured, or that the carried time is not believed.
type anchor struct {
	time, wall time.Time
	mono       time.Duration
}

func newClock(measure func(context.Context) (time.Time, error)) (*Clock, error) {
	skew, err := testSkew()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	read := func() (time.Time, time.Duration) {
		now := time.Now()
		return now.Round(0).Add(skew), now.Sub(start)
	}
	return clockOf(read, measure), nil
}

func clockOf(read func() (time.Time, time.Duration), measure func(context.Context) (time.Time, error)) *Clock {
	return &Clock{read: read, measure: measure, asking: make(chan struct{}, 1)}
}

// Wall is this machine's clock as the process reads it, for who compares it with
// the database's. Nothing that is stored comes from it.
func Wall() (time.Time, error) {
	skew, err := testSkew()
	return time.Now().Round(0).Add(skew), err
}

// Time is the time now. It asks the database only when nothing was measured
// yet, when wall and monotonic clock have parted, or when the last measure is
// old; without an answer in the first two cases it fails rather than guess.
func (c *Clock) Time(ctx context.Context) (coltype.Time, error) {
	if t, ok := c.carried(); ok {
		return t, nil
	}
	if err := c.refresh(ctx, false); err != nil {
		return coltype.Time{}, err
	}
	t, ok := c.carried()
	if !ok {
		return coltype.Time{}, fmt.Errorf("read the clock: wall and monotonic time part faster than they are measured")
	}
	return t, nil
}

// Remeasure asks the database for the time now, whatever is carried.
func (c *Clock) Remeasure(ctx context.Context) error { return c.refresh(ctx, true) }

// carried is the time by the last measure; false if a measure is due.
func (c *Clock) carried() (coltype.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fixed != nil {
		return c.fixed(), true
	}
	wall, mono := c.read()
	if !c.believed(wall, mono) || mono-c.at.mono > maxAge {
		return coltype.Time{}, false
	}
	return c.tell(mono), true
}

// within is the time by the last measure, however old that is; false if nothing
// was measured, or the carried time is not believed.
func (c *Clock) within() (coltype.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fixed != nil {
		return c.fixed(), true
	}
	wall, mono := c.read()
	if !c.believed(wall, mono) {
		return coltype.Time{}, false
	}
	return c.tell(mono), true
}

// believed reports whether both clocks went on alike since the last measure.
func (c *Clock) believed(wall time.Time, mono time.Duration) bool {
	if c.at == (anchor{}) {
		return false
	}
	drift := wall.Sub(c.at.wall) - (mono - c.at.mono)
	return drift.Abs() <= maxDrift
}

// tell is the carried time at mono, not before a time told a moment ago.
func (c *Clock) tell(mono time.Duration) coltype.Time {
	now := c.at.time.Add(mono - c.at.mono)
	if back := c.last.Sub(now); back > 0 && back <= maxSlew {
		now = c.last
	}
	c.last = now
	return coltype.At(now)
}

// refresh takes a measure, unless another one made it needless meanwhile.
func (c *Clock) refresh(ctx context.Context, always bool) error {
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-ctx.Done():
		return fmt.Errorf("wait for a measure of the database's clock: %w", ctx.Err())
	}
	if !always {
		if _, ok := c.carried(); ok {
			return nil
		}
		if err := c.justFailed(); err != nil {
			return err
		}
	}
	if c.measure == nil {
		c.followWall()
		return nil
	}
	at, err := c.ask(ctx)
	return c.settle(ctx, at, err, always)
}

// settle takes the outcome of a measure.
func (c *Clock) settle(ctx context.Context, at anchor, err error, always bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = failure{}
	if err == nil {
		c.at = at
		return nil
	}
	wall, mono := c.read()
	if c.believed(wall, mono) {
		c.at.extend(wall, mono)
		if !always {
			return nil
		}
	}
	err = fmt.Errorf("measure the database's clock: %w", err)
	if ctx.Err() == nil { // else it says more about the caller than the database
		c.failed = failure{err: err, at: mono}
	}
	return err
}

// justFailed is the error of a measure that failed a moment ago.
func (c *Clock) justFailed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, mono := c.read(); c.failed.err != nil && mono-c.failed.at < failureLife {
		return c.failed.err
	}
	return nil
}

// extend makes the carried time count as measured now: the database is away,
// both clocks agree, and asking again at every reading would only add load.
func (a *anchor) extend(wall time.Time, mono time.Duration) {
	a.time = a.time.Add(mono - a.mono)
	a.wall, a.mono = wall, mono
}

// followWall takes the wall clock, or goes on from the carried time if the
// wall clock was set back.
func (c *Clock) followWall() {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, mono := c.read()
	now := wall
	if c.at != (anchor{}) {
		if carried := c.at.time.Add(mono - c.at.mono); now.Before(carried) {
			now = carried
		}
	}
	c.at = anchor{time: now, wall: wall, mono: mono}
}

// ask measures until a round trip was short, and keeps the shortest one. The
// answer is taken to stem from the middle of the trip.
func (c *Clock) ask(ctx context.Context) (anchor, error) {
	var best anchor
	shortest := time.Duration(-1)
	for range tries {
		_, sent := c.read()
		t, err := c.measure(ctx)
		wall, got := c.read()
		if err != nil {
			return anchor{}, err
		}
		trip := got - sent
		if shortest < 0 || trip < shortest {
			shortest = trip
			best = anchor{time: t.Add(trip / 2), wall: wall, mono: got}
		}
		if trip <= goodTrip {
			break
		}
	}
	return best, nil
}

// fix makes fn the clock.
func (c *Clock) fix(fn func() coltype.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fixed = fn
}

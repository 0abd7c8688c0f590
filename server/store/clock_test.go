package store

import (
	"context"
	"errors"
	"testing"
	"time"
)

var (
	t0      = time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC)
	errAway = errors.New("away")
)

// world is the two clocks of a process and the one of a database.
type world struct {
	wall, database time.Time
	mono           time.Duration
	trip           time.Duration // of a measure, which reads in its middle
	away           bool
	asked          int
}

func newWorld() (*world, *Clock) {
	w := &world{wall: t0.Add(90 * time.Second), database: t0}
	return w, clockOf(w.read, w.measure)
}

func (w *world) read() (time.Time, time.Duration) { return w.wall, w.mono }

func (w *world) measure(context.Context) (time.Time, error) {
	w.asked++
	if w.away {
		return time.Time{}, errAway
	}
	w.pass(w.trip / 2)
	at := w.database
	w.pass(w.trip - w.trip/2)
	return at, nil
}

func (w *world) pass(d time.Duration) {
	w.wall, w.database, w.mono = w.wall.Add(d), w.database.Add(d), w.mono+d
}

func (w *world) sleep(d time.Duration) { w.wall, w.database = w.wall.Add(d), w.database.Add(d) }

func shows(t *testing.T, c *Clock, want time.Time) {
	t.Helper()
	got, err := c.Time(t.Context())
	if err != nil || !got.Time.Equal(want) {
		t.Errorf("the clock shows %v, %v; want %v", got, err, want)
	}
}

func TestClockIsTheDatabasesWhateverTheWallSays(t *testing.T) {
	t.Parallel()
	for _, skew := range []time.Duration{90 * time.Second, -90 * time.Second, 0} {
		w, c := newWorld()
		w.wall = t0.Add(skew)
		shows(t, c, t0)
		w.pass(10 * time.Second)
		shows(t, c, t0.Add(10*time.Second))
		if w.asked != 1 {
			t.Errorf("the database was asked %d times, want once", w.asked)
		}
	}
}

func TestHalfTheRoundTripIsMadeUpFor(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	w.trip = 40 * time.Millisecond
	shows(t, c, t0.Add(40*time.Millisecond))
}

func TestSlowRoundTripIsMeasuredAgain(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	w.trip = time.Second
	shows(t, c, t0.Add(3*time.Second))
	if w.asked != 3 {
		t.Errorf("the database was asked %d times, want 3", w.asked)
	}
}

func TestClockIsMeasuredAgainAfterSleepOrAStepOfTheWall(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	shows(t, c, t0)
	w.sleep(time.Hour)
	shows(t, c, t0.Add(time.Hour))
	w.wall = w.wall.Add(-time.Minute)
	shows(t, c, t0.Add(time.Hour))
	w.wall = w.wall.Add(200 * time.Millisecond) // within the bound
	shows(t, c, t0.Add(time.Hour))
	if w.asked != 3 {
		t.Errorf("the database was asked %d times, want 3", w.asked)
	}
}

func TestClockThatWasNotMeasuredForAMinuteIsMeasured(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	shows(t, c, t0)
	w.database = w.database.Add(3 * time.Second) // corrected on the server
	w.pass(59 * time.Second)
	shows(t, c, t0.Add(59*time.Second))
	w.pass(2 * time.Second)
	shows(t, c, t0.Add(64*time.Second))
}

func TestRemeasureAsksWhateverIsCarried(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	shows(t, c, t0)
	w.database = t0.Add(2 * time.Second)
	if err := c.Remeasure(t.Context()); err != nil {
		t.Fatal(err)
	}
	shows(t, c, t0.Add(2*time.Second))
}

func TestClockGoesOnWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	shows(t, c, t0)
	w.away = true
	w.pass(time.Hour)
	shows(t, c, t0.Add(time.Hour))
	if err := c.Remeasure(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("Remeasure gave %v, want the error of the measure", err)
	}
}

func TestClockFailsRatherThanGuess(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	w.away = true
	if now, err := c.Time(t.Context()); !errors.Is(err, errAway) || !now.IsZero() {
		t.Errorf("a clock that was never measured shows %v, %v", now, err)
	}
	w.away = false
	w.pass(failureLife)
	shows(t, c, t0.Add(failureLife))
	w.away = true
	w.sleep(time.Hour)
	if now, err := c.Time(t.Context()); !errors.Is(err, errAway) || !now.IsZero() {
		t.Errorf("a clock that slept shows %v, %v", now, err)
	}
}

// TestFailedMeasureIsSharedForAMoment: with the database away, requests are
// refused together, not one measure after the other; who asks in the
// background asks.
func TestFailedMeasureIsSharedForAMoment(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	w.away = true
	for range 50 {
		if _, err := c.Time(t.Context()); !errors.Is(err, errAway) {
			t.Fatalf("got %v, want the error of the measure", err)
		}
	}
	if w.asked != 1 {
		t.Errorf("the database was asked %d times, want once", w.asked)
	}
	w.away = false
	if err := c.Remeasure(t.Context()); err != nil {
		t.Error(err)
	}
	shows(t, c, t0)
}

// TestFailureOfOneCallerIsNotShared: a caller that gave up says nothing about
// the database.
func TestFailureOfOneCallerIsNotShared(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	w.away = true
	gone, cancel := context.WithCancel(t.Context())
	c.measure = func(ctx context.Context) (time.Time, error) {
		cancel()
		return w.measure(ctx)
	}
	if _, err := c.Time(gone); !errors.Is(err, errAway) {
		t.Errorf("the caller that gave up: %v", err)
	}
	w.away = false
	shows(t, c, t0)
}

// TestWaitForAMeasureEndsWithItsContext: whoever measures may take long.
func TestWaitForAMeasureEndsWithItsContext(t *testing.T) {
	t.Parallel()
	_, c := newWorld()
	c.asking <- struct{}{} // somebody measures
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Time(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// TestTimeWithinATransactionAsksNobody: however old the measure is; after a
// sleep there is none.
func TestTimeWithinATransactionAsksNobody(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	if _, ok := c.within(); ok {
		t.Error("a time, though nothing was measured")
	}
	shows(t, c, t0)
	w.pass(2 * maxAge)
	if now, ok := c.within(); !ok || !now.Time.Equal(t0.Add(2*maxAge)) || w.asked != 1 {
		t.Errorf("%v, %v after %d measures", now, ok, w.asked)
	}
	w.sleep(time.Hour)
	if _, ok := c.within(); ok || w.asked != 1 {
		t.Errorf("a time after a sleep, and %d measures", w.asked)
	}
}

func TestClockStandsStillRatherThanStepBackALittle(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	shows(t, c, t0)
	w.database = t0.Add(-300 * time.Millisecond)
	_ = c.Remeasure(t.Context())
	shows(t, c, t0)
	w.pass(400 * time.Millisecond)
	shows(t, c, t0.Add(100*time.Millisecond))
	w.database = t0.Add(-time.Hour) // another server: believed
	_ = c.Remeasure(t.Context())
	shows(t, c, t0.Add(-time.Hour))
}

func TestClockOfSQLiteFollowsTheWallButNeverBack(t *testing.T) {
	t.Parallel()
	w, c := newWorld()
	c.measure, w.wall = nil, t0
	shows(t, c, t0)
	w.pass(time.Second)
	shows(t, c, t0.Add(time.Second))
	w.wall = t0.Add(-time.Hour) // set back: goes on from where it was
	shows(t, c, t0.Add(time.Second))
	w.pass(5 * time.Second)
	shows(t, c, t0.Add(6*time.Second))
	w.wall = t0.Add(time.Hour) // set forward: followed
	shows(t, c, t0.Add(time.Hour))
}

func TestSkewThatIsNoDurationIsRefused(t *testing.T) {
	t.Setenv("STINT_TEST_CLOCK_SKEW", "soon")
	if _, err := newClock(nil); err == nil {
		t.Error("the skew was taken")
	}
}

func TestSkewShiftsTheWallOfTheProcessOnly(t *testing.T) {
	t.Setenv("STINT_TEST_CLOCK_SKEW", "-90s")
	c, err := newClock(func(context.Context) (time.Time, error) { return t0, nil })
	if err != nil {
		t.Fatal(err)
	}
	wall, _ := c.read()
	if off := time.Since(wall) - 90*time.Second; off.Abs() > time.Minute/2 {
		t.Errorf("the wall clock is off by %v, want 90s", off)
	}
	now, err := c.Time(t.Context())
	if since := now.Time.Sub(t0); err != nil || since < 0 || since > time.Minute {
		t.Errorf("the clock shows %v, %v; want the database's time", now, err)
	}
}

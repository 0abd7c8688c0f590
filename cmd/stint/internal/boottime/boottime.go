// Package boottime is a clock that processes of a machine share, that nobody can
// set, and that goes on while the machine sleeps: CLOCK_BOOTTIME on Linux. A time
// limit that was reached during the sleep has passed when the machine wakes up.
//
// On macOS CLOCK_MONOTONIC counts sleep as well; on other systems it may not, and
// then a time limit is late by as long as the machine slept.
package boottime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Instant is a moment since the machine was started, in nanoseconds. It means
// nothing on another machine or after a restart.
type Instant int64

// Now reads the clock.
func Now() Instant {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		panic(err) // the kernel is older than any that Go runs on
	}
	return Instant(t.Nano())
}

// Add is the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub is how long after earlier i is.
func (i Instant) Sub(earlier Instant) time.Duration { return time.Duration(i - earlier) }

// Until is how long it is from now to i; negative if i has passed.
func Until(i Instant) time.Duration { return i.Sub(Now()) }

package boottime

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A test cannot put the machine to sleep, and until it has slept all clocks that
// nobody sets agree: of those of Linux this one alone goes on.
func TestTheClockCountsSleep(t *testing.T) {
	t.Parallel()
	if clock != unix.CLOCK_BOOTTIME {
		t.Errorf("the clock is %d", clock)
	}
}

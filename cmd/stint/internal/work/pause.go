package work

import (
	"context"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
)

// lookAgain is how soon after the machine's sleep a pause is found to be over:
// Go's timers do not count that sleep.
const lookAgain = time.Second

// pauseUntil waits for a moment, or less if ctx ends; it tells whether ctx goes
// on.
func pauseUntil(ctx context.Context, at boottime.Instant) bool {
	for {
		left := boottime.Until(at)
		if left <= 0 {
			return ctx.Err() == nil
		}
		if !pause(ctx, min(left, lookAgain)) {
			return false
		}
	}
}

// pause waits for d, or less if ctx ends; it tells whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// at is closed at a moment, or left open if ctx ends before.
func at(ctx context.Context, moment boottime.Instant) <-chan struct{} {
	passed := make(chan struct{})
	go func() {
		if pauseUntil(ctx, moment) {
			close(passed)
		}
	}()
	return passed
}

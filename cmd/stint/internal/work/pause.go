package work

import (
	"context"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
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
		if !api.Pause(ctx, min(left, lookAgain)) {
			return false
		}
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

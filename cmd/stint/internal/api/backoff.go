package api

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Backoff is the pauses between tries: they double, with jitter, and are at least
// what the server asked for, up to ten seconds.
type Backoff struct {
	Longest time.Duration // unless the server asks for more; 0: ten seconds
	next    time.Duration
}

const firstPause, longestPause = 200 * time.Millisecond, 10 * time.Second

// After is how long to wait now that a try has ended in err.
func (b *Backoff) After(err error) time.Duration {
	longest := cmp.Or(b.Longest, longestPause)
	b.next = min(max(b.next*2, firstPause), longest)
	d := time.Duration((0.8 + 0.4*rand.Float64()) * float64(b.next))
	if p, ok := errors.AsType[*Problem](err); ok {
		d = max(d, min(p.RetryAfter, longestPause))
	}
	return d
}

// Sleep waits that long, or less if ctx ends; it tells whether ctx goes on.
func (b *Backoff) Sleep(ctx context.Context, err error) bool {
	return Pause(ctx, b.After(err))
}

// Pause waits for d, or less if ctx ends; it tells whether ctx goes on.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Reset is called after a try that succeeded.
func (b *Backoff) Reset() { b.next = 0 }

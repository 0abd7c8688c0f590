package control

import (
	"context"
	"time"
)

// NewTokenForTest is a well-formed token that nobody was issued.
func NewTokenForTest() string { return newSecret(tokenPrefix) }

// CachedForTest is how many tokens v remembers.
func CachedForTest(v *Verifier) (known, unknown int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.known.by), len(v.unknown.by)
}

// TimeForTest replaces the waiting and the clock of a runner, and lets it wait a
// minute for the release of a lease.
func (r *Runner) TimeForTest(wait func(ctx context.Context, d time.Duration) bool, now func() time.Time) {
	r.wait, r.now, r.releaseTime = wait, now, time.Minute
}

// CheckedForTest is when the last finding was made.
func (r *Readiness) CheckedForTest() time.Time {
	r.asking <- struct{}{}
	defer func() { <-r.asking }()
	return r.last.at
}

package control

import (
	"context"
	"time"
)

// releaseTime bounds the release of a lease when a replica stops. One that is
// not released runs out.
const releaseTime = 2 * time.Second

// take is how long the pass may last that comes now: 0 if another replica has
// the lease. Each pass renews it.
func (r *Runner) take(ctx context.Context, l *loop) (time.Duration, error) {
	if !l.Lease {
		return passTime, nil
	}
	got, err := TakeLease(ctx, r.store, l.Name, r.holder, l.ttl())
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.unsure = true
		return 0, err
	}
	l.unsure = false
	if b := got.Broken; b != nil {
		r.log.Warn("ended a lease that was to end later than any that can be taken", "lease", b.Name, "holder", b.Holder, "term", b.Term, "expires_at", b.ExpiresAt.String())
	}
	if got.Left <= 0 {
		if l.holding {
			r.log.Info("lost a lease", "lease", l.Name, "holder", r.holder, "term", l.lease.Term)
		}
		l.holding = false
		l.last.Skipped++
		return 0, nil
	}
	if !l.holding || got.Term != l.lease.Term {
		r.log.Info("took a lease", "lease", l.Name, "holder", r.holder, "term", got.Term)
	}
	l.lease, l.holding, l.last.Term = got.Lease, true, got.Term
	return got.Left, nil
}

// release ends the lease of a loop that has ended.
func (r *Runner) release(ctx context.Context, l *loop) {
	l.mu.Lock()
	had := l.holding || l.unsure
	l.holding, l.unsure = false, false
	l.mu.Unlock()
	if !had {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.releaseTime)
	defer cancel()
	if err := ReleaseLease(ctx, r.store, l.Name, r.holder); err != nil {
		r.log.Warn("a lease was not released, and runs out by itself", "lease", l.Name, "error", err)
		return
	}
	r.log.Info("released a lease", "lease", l.Name, "holder", r.holder, "term", l.last.Term)
}

// statusOf is what is kept of a loop, and whether its lease is held now.
func (r *Runner) statusOf(l *loop) LoopStatus {
	now, err := r.store.TxTime() // asks nobody
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.last
	s.Held = l.holding && err == nil && now.Before(l.lease.ExpiresAt)
	return s
}

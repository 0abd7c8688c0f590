package control

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

// passTime bounds one pass; a pass works in batches and is far below it.
const passTime = time.Minute

// Loop is background work: a pass that runs again and again. It has either Pass
// or Run.
type Loop struct {
	Name  string        // under Lease also the name of the lease
	Every time.Duration // from the end of a pass to the next, ±10 %

	// Pass is run in one transaction, which may run it again: it has no effect
	// but through q.
	Pass func(ctx context.Context, q model.Querier, now coltype.Time) (n int, err error)

	// Run is for a pass that opens its own transactions on s, or none.
	Run func(ctx context.Context, s *store.Store) (n int, err error)

	// Batch is the most a pass does. One that did as much runs again at once,
	// since there may be more; 0 never does.
	Batch int

	// Lease has the pass run in one replica at a time, the one that holds the
	// lease; the others run no statement of it. Without it every replica runs
	// the pass. Two replicas may still meet in one pass, when the holder of
	// before slept: the pass must stand that.
	Lease bool

	// TTL is how long a lease lasts that is not renewed, and the longest that a
	// pass under it may take; 0 is 3 × Every. It is at least 2 × Every, and at
	// most an hour.
	TTL time.Duration
}

// Check says what is wrong with a loop; nil if NewRunner takes it.
func (l Loop) Check() error {
	ttl := l.ttl()
	switch {
	case l.Every <= 0:
		return fmt.Errorf("loop %s: its interval is %v, not above 0", l.Name, l.Every)
	case l.TTL != 0 && !l.Lease:
		return fmt.Errorf("loop %s: it has a TTL and no lease", l.Name)
	case l.Lease && (ttl < minLeaseIntervals*l.Every || ttl > maxLease):
		return fmt.Errorf("loop %s: its lease lasts %v, not between two intervals (%v) and %v", l.Name, ttl, minLeaseIntervals*l.Every, maxLease)
	}
	return nil
}

func (l Loop) ttl() time.Duration {
	if l.TTL != 0 {
		return l.TTL
	}
	return leaseIntervals * l.Every
}

// Runner runs loops and knows how each one fares.
type Runner struct {
	store  *store.Store
	log    *slog.Logger
	loops  []*loop
	holder string

	// Replaced by tests.
	wait func(ctx context.Context, d time.Duration) bool // false once ctx is done
	now  func() time.Time

	releaseTime time.Duration // bounds the release of a lease; tests set a longer one
}

// loop is a Loop, its last result, and the lease that it last had.
type loop struct {
	Loop
	mu      sync.Mutex
	last    LoopStatus
	lease   model.Lease
	holding bool // unless the lease ran out meanwhile
	unsure  bool // a take that failed may have taken it
}

// LoopStatus is how a loop fares in this replica.
type LoopStatus struct {
	Name     string
	Passes   int64         // ended ones
	Failures int64         // in a row, up to now
	Failed   int64         // in all
	Done     int           // by the last pass
	Took     time.Duration // the last pass
	Error    string        // of the last pass; "" if it went well
	Ended    time.Time
	Age      time.Duration // since the end of the last pass; -1 before the first

	Succeeded  time.Time     // end of the last pass that went well
	SuccessAge time.Duration // since then; -1 before the first

	Lease   bool  // the loop runs under one
	Held    bool  // by this replica, now
	Term    int64 // the last one that this replica held; 0 if none
	Skipped int64 // passes left out, since another replica held the lease
}

// NewRunner is a runner of loops on s. Their passes take at most half of the
// connections together. Each loop must pass its Check.
func NewRunner(s *store.Store, log *slog.Logger, loops ...Loop) (*Runner, error) {
	r := &Runner{store: s.Background(), log: log, holder: newHolder(), wait: sleep, now: time.Now, releaseTime: releaseTime}
	for _, l := range loops {
		if err := l.Check(); err != nil {
			return nil, err
		}
		r.loops = append(r.loops, &loop{Loop: l, last: LoopStatus{Name: l.Name, Lease: l.Lease}})
	}
	return r, nil
}

// Holder is this replica's name on the leases it takes.
func (r *Runner) Holder() string { return r.holder }

// Run runs every loop until ctx is done and the last pass has ended. What it
// holds then is released.
func (r *Runner) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, l := range r.loops {
		wg.Go(func() { r.repeat(ctx, l) })
	}
	wg.Wait()
}

// repeat begins at a random moment within the interval's first tenth: replicas
// that start together do not work together.
func (r *Runner) repeat(ctx context.Context, l *loop) {
	defer r.release(ctx, l)
	if !r.wait(ctx, rand.N(l.Every/10+1)) {
		return
	}
	for {
		n, err := r.runOnce(ctx, l)
		if ctx.Err() != nil {
			return
		}
		if full := l.Batch > 0 && n >= l.Batch && err == nil; full {
			continue
		}
		if !r.wait(ctx, jittered(l.Every)) {
			return
		}
	}
}

// runOnce runs one pass, if this replica may, and keeps its result.
func (r *Runner) runOnce(ctx context.Context, l *loop) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, passTime)
	defer cancel()
	began := r.now()
	most, err := r.take(ctx, l)
	if err == nil && most <= 0 {
		return 0, nil
	}
	if err == nil {
		n, err = r.pass(ctx, l, most)
	}
	if context.Cause(ctx) != context.Canceled {
		r.record(l, n, r.now().Sub(began), err)
	}
	return n, err
}

// errLeaseOver cuts off a pass that outlives its lease.
var errLeaseOver = errors.New("the lease ended before the pass did")

// pass runs one pass for at most that long. A panic is a failed pass.
func (r *Runner) pass(ctx context.Context, l *loop, most time.Duration) (n int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errLeaseOver)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err != nil && context.Cause(ctx) == errLeaseOver {
			err = fmt.Errorf("%w: %w", errLeaseOver, err)
		}
	}()
	if l.Run != nil {
		return l.Run(ctx, r.store)
	}
	return r.inTx(ctx, l.Pass)
}

func (r *Runner) inTx(ctx context.Context, pass func(context.Context, model.Querier, coltype.Time) (int, error)) (int, error) {
	now, err := r.store.Time(ctx)
	if err != nil {
		return 0, err
	}
	var n int
	err = r.store.Tx(ctx, func(q model.Querier) (err error) {
		n, err = pass(ctx, q, now)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// record keeps the result, and logs a failure when it is not the one before.
func (r *Runner) record(l *loop, n int, took time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.last.Error
	l.last.Passes++
	l.last.Done, l.last.Took, l.last.Ended, l.last.Error = n, took, r.now(), ""
	r.log.Debug("background pass", "loop", l.Name, "term", l.lease.Term, "done", n, "took", took)
	if err == nil {
		if l.last.Failures > 0 {
			r.log.Info("background pass works again", "loop", l.Name, "failures", l.last.Failures)
		}
		l.last.Failures, l.last.Succeeded = 0, l.last.Ended
		return
	}
	l.last.Failures++
	l.last.Failed++
	l.last.Error = err.Error()
	if l.last.Error != before {
		r.log.Error("background pass failed", "loop", l.Name, "error", err)
	}
}

// Status is how each loop fares, in the order given.
func (r *Runner) Status() []LoopStatus {
	now, list := r.now(), make([]LoopStatus, 0, len(r.loops))
	for _, l := range r.loops {
		s := r.statusOf(l)
		s.Age, s.SuccessAge = since(s.Ended, now), since(s.Succeeded, now)
		list = append(list, s)
	}
	return list
}

// since is the time from at to now; -1 if at is no time.
func since(at, now time.Time) time.Duration {
	if at.IsZero() {
		return -1
	}
	return now.Sub(at)
}

// jittered is d ± 10 %.
func jittered(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1)
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

package control

import (
	"context"
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

// Loop is background work: a pass that runs again and again, in every replica.
// It has either Pass or Run.
type Loop struct {
	Name  string
	Every time.Duration // from the end of a pass to the next, ±10 %

	// Pass is run in one transaction, which may run it again: it has no effect
	// but through q.
	Pass func(ctx context.Context, q model.Querier, now coltype.Time) (n int, err error)

	// Run is for a pass that opens its own transactions on s, or none.
	Run func(ctx context.Context, s *store.Store) (n int, err error)

	// Batch is the most a pass does. One that did as much runs again at once,
	// since there may be more; 0 never does.
	Batch int
}

// Runner runs loops and knows how each one fares.
type Runner struct {
	store *store.Store
	log   *slog.Logger
	loops []*loop

	// Replaced by tests.
	wait func(ctx context.Context, d time.Duration) bool // false once ctx is done
	now  func() time.Time
}

// loop is a Loop and its last result.
type loop struct {
	Loop
	mu   sync.Mutex
	last LoopStatus
}

// LoopStatus is how a loop fares.
type LoopStatus struct {
	Name     string        `json:"name"`
	Passes   int64         `json:"passes"`   // ended ones
	Failures int64         `json:"failures"` // in a row, up to now
	Done     int           `json:"done"`     // by the last pass
	Error    string        `json:"error"`    // of the last pass; "" if it went well
	Ended    time.Time     `json:"-"`
	Age      time.Duration `json:"-"` // since the end of the last pass; -1 before the first
}

// NewRunner is a runner of loops on s. Their passes take at most half of the
// connections together.
func NewRunner(s *store.Store, log *slog.Logger, loops ...Loop) *Runner {
	r := &Runner{store: s.Background(), log: log, wait: sleep, now: time.Now}
	for _, l := range loops {
		r.loops = append(r.loops, &loop{Loop: l, last: LoopStatus{Name: l.Name}})
	}
	return r
}

// Run runs every loop until ctx is done and the last pass has ended.
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

// runOnce runs one pass and keeps its result. A panic is a failed pass.
func (r *Runner) runOnce(ctx context.Context, l *loop) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, passTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if context.Cause(ctx) != context.Canceled {
			r.record(l, n, err)
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
func (r *Runner) record(l *loop, n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.last.Error
	l.last.Passes++
	l.last.Done, l.last.Ended, l.last.Error = n, r.now(), ""
	if err == nil {
		if l.last.Failures > 0 {
			r.log.Info("background pass works again", "loop", l.Name, "failures", l.last.Failures)
		}
		l.last.Failures = 0
		return
	}
	l.last.Failures++
	l.last.Error = err.Error()
	if l.last.Error != before {
		r.log.Error("background pass failed", "loop", l.Name, "error", err)
	}
}

// Status is how each loop fares, in the order given.
func (r *Runner) Status() []LoopStatus {
	now, list := r.now(), make([]LoopStatus, 0, len(r.loops))
	for _, l := range r.loops {
		l.mu.Lock()
		s := l.last
		l.mu.Unlock()
		s.Age = -1
		if !s.Ended.IsZero() {
			s.Age = now.Sub(s.Ended)
		}
		list = append(list, s)
	}
	return list
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

// StoreLoops are the passes that a store needs: they follow the database's
// clock, and keep SQLite's log small. The store may be nil.
func StoreLoops(s *store.Store) []Loop {
	loops := []Loop{{Name: "clock", Every: store.RemeasureEvery, Run: func(ctx context.Context, s *store.Store) (int, error) {
		return 0, s.Remeasure(ctx)
	}}}
	if s != nil && s.Engine() == store.SQLite {
		loops = append(loops, Loop{Name: "sqlite-log", Every: store.MaintainEvery, Run: func(ctx context.Context, s *store.Store) (int, error) {
			return 0, s.Maintain(ctx)
		}})
	}
	return loops
}

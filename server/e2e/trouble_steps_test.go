//go:build linux

package e2e

import (
	"context"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
)

// disturb does what the plan of a round says, until ctx ends; what it froze or
// cut is well again when it returns.
func (r *round) disturb(ctx context.Context) {
	for _, s := range r.plan.steps {
		r.steps.Go(func() {
			select {
			case <-r.watch.moment(s.moment):
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(s.delay):
				r.apply(ctx, s)
			case <-ctx.Done():
			}
		})
	}
}

// apply does one step, and undoes it after its time.
func (r *round) apply(ctx context.Context, s step) {
	switch s.what {
	case kill, freeze:
		r.strike(ctx, s)
	case sendOnce, sendTwice:
		r.send(s)
	case noReader, idle:
		r.unread(s)
	default:
		r.cutOff(ctx, s)
	}
}

// strike kills victims, or freezes them for some time.
func (r *round) strike(ctx context.Context, s step) {
	victims := r.victims(s)
	sig := syscall.SIGSTOP
	if s.what == kill {
		sig = syscall.SIGKILL
		r.troubled.told.Store(r.troubled.told.Load() || s.victim == "worker")
	}
	done := &strike{step: s, at: time.Now(), victims: victims}
	r.watch.set(func() { r.strikes = append(r.strikes, done) })
	for _, v := range victims {
		v.signal(sig)
	}
	r.watch.note("%v: did it to %v", s, victims)
	if s.what == kill {
		return
	}
	select {
	case <-time.After(s.lasts):
	case <-ctx.Done():
	}
	for _, v := range victims {
		v.signal(syscall.SIGCONT)
	}
	r.watch.set(func() { done.over = time.Now() })
	r.watch.note("over: %v", s)
}

// victims are whom a step is about and who is there.
func (r *round) victims(s step) (found []procID) {
	if s.victim == "worker" {
		return []procID{r.troubled.procID}
	}
	for _, p := range supervisorsOf(r.troubled.pid) {
		found = append(found, p.procID)
	}
	if s.victim == "supervisor" && len(found) > 1 {
		i := rand.New(rand.NewPCG(uint64(s.delay), 0)).IntN(len(found))
		found = found[i : i+1]
	}
	return found
}

// harmless are the signals that a worker ignores.
var harmless = []syscall.Signal{syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}

// secondSignal is after how long a signal is no repetition of the first.
const secondSignal = 1100 * time.Millisecond

func (r *round) send(s step) {
	stops := s.victim == "worker" && !slices.Contains(harmless, s.signal)
	if stops && r.troubled.told.Swap(true) && r.plan.side == "supervisor" {
		return // a second signal would kill the worker as well
	}
	for _, v := range r.victims(s) {
		v.signal(s.signal)
		r.watch.note("%v: sent to %d", s, v.pid)
		if s.what == sendTwice {
			<-time.After(secondSignal)
			v.signal(s.signal)
			r.watch.note("%v: sent again to %d", s, v.pid)
		}
	}
}

// unread takes readers away from the worker's outputs, or has them idle until
// the round is over.
func (r *round) unread(s step) {
	for i, name := range []string{"stdout", "stderr"} {
		if s.victim != name && s.victim != "worker" {
			continue
		}
		if s.what == noReader {
			r.troubled.outs[i].from.Close()
		} else {
			go r.troubled.outs[i].stop(r.over)
		}
	}
	r.watch.note("%v", s)
}

// cutOff has the worker's network fail for some time, one failure after another.
func (r *round) cutOff(ctx context.Context, s step) {
	r.networkMu.Lock()
	defer r.networkMu.Unlock()
	began := time.Now()
	r.network.set(map[string]string{cut: closed, swallow: silent, delayed: stalled}[s.what])
	r.watch.note("%v", s)
	select {
	case <-time.After(s.lasts):
	case <-ctx.Done():
	}
	r.network.set(open)
	r.notReached(span{began, time.Now()})
	r.watch.note("over: %v", s)
}

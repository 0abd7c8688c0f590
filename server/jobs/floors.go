package jobs

import (
	"sync"
	"time"

	"github.com/stint-run/stint/schema/coltype"
)

const (
	// lookAllEvery is how often a claim looks below the floors of a kind.
	lookAllEvery = time.Second

	// floorSlack is how far a floor stays behind the newest job claimed: an
	// enqueue that commits later than its neighbours by less is found at once.
	floorSlack = 100 * time.Millisecond

	// maxFloors bounds what a process remembers: owners times kinds. Beyond it
	// everything is forgotten, which costs one full look each.
	maxFloors = 10_000
)

// lowest is the least run_at a job can have: a claim from there on sees all.
var lowest = coltype.First

// Floors remember, per owner, kind and priority, the run_at below which claims
// of this process found nothing left. While a transaction elsewhere holds an
// old snapshot, PostgreSQL keeps the index entries of jobs that were claimed,
// and a claim that begins at the oldest would walk all of them.
//
// A floor is a hint. Once a second one claim of a kind looks without it, and so
// does each that would be empty: what lies below, since its enqueue committed
// late, waits a second at most while newer work is there, a second more if that
// claim was rolled back, and an empty answer is true. The nil *Floors remembers
// nothing.
type Floors struct {
	mu sync.Mutex
	of map[topic]kindFloors
}

// kindFloors are the floors of a kind.
type kindFloors struct {
	at     starts
	looked coltype.Time // when a claim was last sent to look below them
}

// starts is the least run_at of a seek, by priority; zero is none.
type starts [lowestPriority + 1]coltype.Time

// Start is where the seeks of one claim begin, by kind. A kind without an entry
// is looked at whole.
type Start map[string]starts

// from is the run_at from which a seek looks.
func (s Start) from(kind string, priority int64) coltype.Time {
	if at := s[kind][priority]; !at.IsZero() {
		return at
	}
	return lowest
}

// NewFloors has none yet.
func NewFloors() *Floors { return &Floors{of: map[topic]kindFloors{}} }

// Start is where a claim of these kinds begins at now. It leaves out the kinds
// that no claim has looked at whole for a second: the claims of that second
// leave it to this one, so call it once for a claim, before its transaction. A
// rerun begins at the same place, and so looks below again.
func (f *Floors) Start(now coltype.Time, owner string, kinds []string) Start {
	if f == nil {
		return nil
	}
	out := Start{}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, kind := range kinds {
		key := topic{owner, kind}
		known, ok := f.of[key]
		switch {
		case !ok:
		case now.Sub(known.looked) >= lookAllEvery || now.Before(known.looked):
			known.looked = now
			f.of[key] = known
		default:
			out[kind] = known.at
		}
	}
	return out
}

// Note learns from a claim whose transaction is committed. One that is rolled
// back or rerun took nothing, and leaves the floors where they are.
func (f *Floors) Note(c ClaimOut) {
	if f == nil {
		return
	}
	newest := c.newest()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.of)+len(newest) > maxFloors {
		clear(f.of)
	}
	for _, p := range c.probes {
		key := topic{c.owner, p.Kind}
		known, ok := f.of[key]
		at, floor := newest[p.Kind][p.Priority], &known.at[p.Priority]
		switch {
		case !at.IsZero() && p.all(): // at the oldest work there is: the floor may fall, too
			*floor = at
		case c.anew:
			*floor = coltype.Time{}
		case !floor.IsZero() && at.After(*floor): // only a look at all sets the first
			*floor = at
		default:
			continue
		}
		if !ok {
			known.looked = c.now
		}
		f.of[key] = known
	}
}

// newest is where the floors of a claim's kinds could stand: behind the newest
// job that it took of each priority.
func (c ClaimOut) newest() map[string]starts {
	out := map[string]starts{}
	for _, taken := range c.Jobs {
		of := out[taken.Job.Kind]
		if at := taken.Job.RunAt.Add(-floorSlack); at.After(of[taken.Job.Priority]) {
			of[taken.Job.Priority] = at
			out[taken.Job.Kind] = of
		}
	}
	return out
}

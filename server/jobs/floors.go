package jobs

import (
	"sync"
	"time"

	"github.com/stint-run/stint/schema/coltype"
)

const (
	// lookAllEvery is how often a claim looks below a floor.
	lookAllEvery = time.Second

	// floorSlack is how far a floor stays behind the newest job claimed: an
	// enqueue that commits later than its neighbours by less is found at once.
	floorSlack = 100 * time.Millisecond

	// maxFloors bounds what a process remembers: owners times kinds times
	// priorities. Beyond it everything is forgotten, which costs one full look each.
	maxFloors = 10_000
)

// lowest is the least run_at a job can have: a claim from there on sees all.
var lowest = coltype.At(time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC))

// Floors remember, per owner, kind and priority, the run_at below which claims
// of this process found nothing left. While a transaction elsewhere holds an
// old snapshot, PostgreSQL keeps the index entries of jobs that were claimed,
// and a claim that begins at the oldest would walk all of them.
//
// A floor is a hint. Once a second a claim looks without it, and so does one
// that would be empty: what lies below, since its enqueue committed late, waits
// a second at most while newer work is there, and an empty answer is true.
// The nil *Floors remembers nothing.
type Floors struct {
	mu sync.Mutex
	at map[floorKey]floor
}

type floorKey struct {
	owner, kind string
	priority    int64
}

type floor struct {
	runAt  coltype.Time
	looked coltype.Time // when a claim last looked below it
}

// NewFloors has none yet.
func NewFloors() *Floors { return &Floors{at: map[floorKey]floor{}} }

// from is the run_at from which a claim at now looks.
func (f *Floors) from(now coltype.Time, key floorKey) coltype.Time {
	if f == nil {
		return lowest
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known, ok := f.at[key]
	if !ok || now.Sub(known.looked) >= lookAllEvery || now.Before(known.looked) {
		return lowest
	}
	return known.runAt
}

// Note learns from a claim whose transaction is committed. One that is rolled
// back or rerun took nothing, and must leave no trace here: Claim itself only
// reads.
func (f *Floors) Note(c ClaimOut) {
	if f == nil {
		return
	}
	newest := c.newest()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.at)+len(newest) > maxFloors {
		clear(f.at)
	}
	for _, p := range c.probes {
		key := floorKey{c.owner, p.Kind, p.Priority}
		known, ok := f.at[key]
		at, took := newest[key]
		switch {
		case took && p.all(): // at the oldest work there is: the floor may fall, too
			f.at[key] = floor{runAt: at, looked: c.now}
		case c.anew:
			delete(f.at, key)
		case !ok: // forgotten meanwhile: only a look at all sets a floor
		case p.all():
			f.at[key] = floor{runAt: known.runAt, looked: c.now}
		case took && at.After(known.runAt):
			f.at[key] = floor{runAt: at, looked: known.looked}
		}
	}
}

// newest is where the floors of a claim's probes could stand: behind the newest
// job that each one took.
func (c ClaimOut) newest() map[floorKey]coltype.Time {
	out := map[floorKey]coltype.Time{}
	for _, taken := range c.Jobs {
		key := floorKey{c.owner, taken.Job.Kind, taken.Job.Priority}
		if at := taken.Job.RunAt.Add(-floorSlack); at.After(out[key]) {
			out[key] = at
		}
	}
	return out
}

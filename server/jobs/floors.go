package jobs

import (
	"sync"
	"time"

	"github.com/stint-run/stint/gen/model"
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

// under is where a claim at now begins to look.
func (f *Floors) under(now coltype.Time, key floorKey) coltype.Time {
	if f == nil {
		return lowest
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	known, ok := f.at[key]
	if !ok {
		return lowest
	}
	if now.Sub(known.looked) >= lookAllEvery || now.Before(known.looked) {
		known.looked = now
		f.at[key] = known
		return lowest
	}
	return known.runAt
}

// raise notes what a claim with these probes took. A probe that looked at all
// and took something is at its oldest work: its floor may fall, too.
func (f *Floors) raise(now coltype.Time, owner string, probes []probe, taken []model.Job) {
	if f == nil {
		return
	}
	newest := map[floorKey]coltype.Time{}
	for _, job := range taken {
		key := floorKey{owner, job.Kind, job.Priority}
		if at := job.RunAt.Add(-floorSlack); at.After(newest[key]) {
			newest[key] = at
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.at)+len(newest) > maxFloors {
		clear(f.at)
	}
	for _, p := range probes {
		key := floorKey{owner, p.Kind, p.Priority}
		at, took := newest[key]
		known, ok := f.at[key]
		switch {
		case !took:
		case !ok:
			f.at[key] = floor{runAt: at, looked: now}
		case p.all() || at.After(known.runAt):
			f.at[key] = floor{runAt: at, looked: known.looked}
		}
	}
}

// forget drops the floors of probes that found nothing.
func (f *Floors) forget(owner string, probes []probe) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range probes {
		delete(f.at, floorKey{owner, p.Kind, p.Priority})
	}
}

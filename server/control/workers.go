package control

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

const (
	// workersEvery is how often what was noted is written, maxNoted how many
	// workers are noted in between: others wait for their next call.
	workersEvery = time.Minute
	maxNoted     = 10_000

	// A worker that was not seen for workerLife is forgotten.
	workerLife  = 7 * 24 * time.Hour
	forgetEvery = time.Hour
	forgetBatch = 500 // rows per transaction
)

// Workers knows when each worker last called, and writes it once a minute, so
// that no request has to.
type Workers struct {
	mu    sync.Mutex
	noted map[workerKey]coltype.Time // since the last flush
}

type workerKey struct{ ownerID, name string }

// NewWorkers knows none yet.
func NewWorkers() *Workers { return &Workers{noted: map[workerKey]coltype.Time{}} }

// Note remembers that a worker called.
func (w *Workers) Note(ownerID, name string, at coltype.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(workerKey{ownerID, name}, at)
}

func (w *Workers) note(key workerKey, at coltype.Time) {
	last, known := w.noted[key]
	if !known && len(w.noted) >= maxNoted {
		return
	}
	w.noted[key] = coltype.Later(at, last)
}

// Loops are the passes that write what was noted, in every replica, and forget
// workers that are gone.
func (w *Workers) Loops() []Loop {
	return []Loop{
		{Name: "workers-seen", Every: workersEvery, Run: w.flush},
		{Name: "worker-sweep", Every: forgetEvery, Pass: SweepWorkers, Batch: forgetBatch},
	}
}

// seenWorker is one element of WorkerSeen's @rows.
type seenWorker struct {
	OwnerID string `json:"owner_id"`
	Name    string `json:"name"`
	At      int64  `json:"at"` // microseconds
}

// flush writes what was noted, in one statement; what it cannot write now waits
// for the next one.
func (w *Workers) flush(ctx context.Context, s *store.Store) (int, error) {
	noted := w.take()
	if len(noted) == 0 {
		return 0, nil
	}
	rows := make([]seenWorker, 0, len(noted))
	for key, at := range noted {
		rows = append(rows, seenWorker{key.ownerID, key.name, at.UnixMicro()})
	}
	// In one order everywhere, so that replicas never wait for each other in a ring.
	slices.SortFunc(rows, func(a, b seenWorker) int {
		return cmp.Or(cmp.Compare(a.OwnerID, b.OwnerID), cmp.Compare(a.Name, b.Name))
	})
	text, err := json.Marshal(rows)
	if err == nil {
		err = s.Tx(ctx, func(q model.Querier) error {
			_, err := q.WorkerSeen(ctx, model.WorkerSeenParams{Rows: string(text)})
			return err
		})
	}
	if err != nil {
		w.giveBack(noted)
		return 0, fmt.Errorf("note %d workers: %w", len(rows), err)
	}
	return len(rows), nil
}

func (w *Workers) take() map[workerKey]coltype.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	noted := w.noted
	w.noted = map[workerKey]coltype.Time{}
	return noted
}

func (w *Workers) giveBack(noted map[workerKey]coltype.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, at := range noted {
		w.note(key, at)
	}
}

// SweepWorkers forgets workers of all owners that were not seen for 7 days, up
// to a batch, and returns how many.
func SweepWorkers(ctx context.Context, q model.Querier, now coltype.Time) (int, error) {
	n, err := q.WorkerSweep(ctx, model.WorkerSweepParams{Cutoff: now.Add(-workerLife), Max: forgetBatch})
	if err != nil {
		return 0, fmt.Errorf("forget workers: %w", err)
	}
	return int(n), nil
}

package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// bench is a Config at work.
type bench struct{ Config }

// measurement is one run of one kind of work.
type measurement struct {
	jobs  int
	took  time.Duration
	turns []time.Duration // of each request, or claim and finish together
}

func (m measurement) rate() float64 { return float64(m.jobs) / m.took.Seconds() }

// measure lets the clients work until the jobs or the time are used up.
func (b *bench) measure(ctx context.Context, w work) (measurement, error) {
	ctx, cancel := context.WithTimeout(ctx, b.Time+30*time.Second)
	defer cancel()
	var left atomic.Int64
	left.Store(int64(b.Jobs))
	var mu sync.Mutex
	var m measurement
	var failed error
	var clients sync.WaitGroup
	began := time.Now()
	for range w.clients {
		clients.Go(func() {
			jobs, turns, err := b.client(ctx, w, &left, began)
			mu.Lock()
			defer mu.Unlock()
			m.jobs += jobs
			m.turns = append(m.turns, turns...)
			if err != nil {
				failed = err
				cancel()
			}
		})
	}
	clients.Wait()
	m.took = time.Since(began)
	return m, failed
}

// client takes turns until nothing is left to do.
func (b *bench) client(ctx context.Context, w work, left *atomic.Int64, began time.Time) (jobs int, turns []time.Duration, err error) {
	for left.Load() > 0 && time.Since(began) < b.Time {
		turn := time.Now()
		n, err := w.one(ctx)
		if err != nil || n == 0 {
			return jobs, turns, err
		}
		turns = append(turns, time.Since(turn))
		left.Add(-int64(n))
		jobs += n
	}
	return jobs, turns, nil
}

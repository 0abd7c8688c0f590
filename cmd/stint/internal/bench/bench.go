// Package bench measures a server over HTTP in a closed loop: each client sends
// its next request when the last one was answered. Requests carry no
// Idempotency-Key, so their answers are not kept.
package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stint-run/stint/gen/client"
)

// Config says how much is measured.
type Config struct {
	API     *client.Client
	Clients int           // at a time
	Jobs    int           // of each kind of work in a run, at most
	Time    time.Duration // of each kind of work in a run, at most
	Batch   int           // jobs in one request of a drain, 1 to 100
	Runs    int           // that count; one more warms up
	Kind    string
	Note    func(string) // told what is being done
}

// Result is one kind of work over all runs.
type Result struct {
	Work    string    `json:"work"`
	Clients int       `json:"clients"`
	Median  float64   `json:"jobs_per_second"`
	Runs    []float64 `json:"runs"`
	P50     float64   `json:"request_p50_ms"`
	P99     float64   `json:"request_p99_ms"`
}

// work is one kind of work.
type work struct {
	name    string
	stock   func(ctx context.Context) error // what it needs; not measured
	clients int
	one     func(ctx context.Context) (jobs int, err error) // one turn of a client; 0 jobs: nothing is left
}

// Run measures and returns a result for each kind of work.
func Run(ctx context.Context, c Config) ([]Result, error) {
	b := &bench{Config: c}
	var results []Result
	for _, w := range b.works() {
		r := Result{Work: w.name, Clients: w.clients}
		var took []time.Duration
		for run := range c.Runs + 1 {
			c.Note(fmt.Sprintf("%s: run %d of %d", w.name, run, c.Runs))
			if w.stock != nil {
				if err := w.stock(ctx); err != nil {
					return nil, fmt.Errorf("prepare %s: %w", w.name, err)
				}
			}
			m, err := b.measure(ctx, w)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			if run > 0 {
				r.Runs = append(r.Runs, m.rate())
				took = append(took, m.turns...)
			}
		}
		r.Median = median(r.Runs)
		slices.Sort(took)
		r.P50, r.P99 = ms(quantile(took, 0.5)), ms(quantile(took, 0.99))
		results = append(results, r)
	}
	return results, nil
}

func median(rates []float64) float64 {
	sorted := slices.Sorted(slices.Values(rates))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

// quantile is the smallest value that a part q of the sorted ones does not exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

package jobs_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// claimedAll plants n jobs and claims them all.
func (d *fixture) claimedAll(n int) (held []jobs.ClaimedJob) {
	d.Helper()
	plant(d, n, "build", jobs.Pending, d.Now)
	d.Pass(time.Second)
	for len(held) < n {
		got := d.claimIn(jobs.ClaimIn{Kinds: []string{"build"}, Limit: 100})
		if got == nil {
			d.Fatalf("claimed %d of %d", len(held), n)
		}
		held = append(held, got...)
	}
	return held
}

// reaper is the reaper's loop, whatever others there are.
func reaper(every time.Duration) control.Loop {
	all := jobs.Loops(jobs.NewHub(nil), every, slog.New(slog.DiscardHandler))
	return all[slices.IndexFunc(all, func(l control.Loop) bool { return l.Name == "run-reaper" })]
}

// reaping starts a replica's reaper, which waits within its first pass until go
// is closed, and does no other one. took gets how many jobs it took back.
func reaping(d *fixture, entered chan<- struct{}, start <-chan struct{}, took chan<- int) *control.Runner {
	d.Helper()
	loop := reaper(time.Second)
	loop.TTL = time.Hour // the pass is not cut off: its lease ends by the clock of the test alone
	var once sync.Once
	loop.Batch, loop.Run = 0, func(ctx context.Context, s *store.Store) (n int, err error) {
		once.Do(func() {
			entered <- struct{}{}
			<-start
			for more := jobs.ReapBatch; more == jobs.ReapBatch && err == nil; n += more {
				more, err = jobs.ReapAll(ctx, s, jobs.NewHub(nil), slog.New(slog.DiscardHandler))
			}
			if err != nil {
				d.Error(err)
			}
			took <- n
		})
		return n, err
	}
	r, err := control.NewRunner(d.Store, slog.New(slog.DiscardHandler), loop)
	if err != nil {
		d.Fatal(err)
	}
	ctx, cancel := context.WithCancel(d.Context())
	var wg sync.WaitGroup
	wg.Go(func() { r.Run(ctx) })
	d.Cleanup(func() { cancel(); wg.Wait() })
	return r
}

// A lease is no lock: a holder that slept goes on in its pass while the next one
// is in its own. Each row is changed once.
func TestTwoHoldersInOnePassTakeEachJobBackOnce(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		const n = 350
		clock := dbtest.Freeze(d.Store)
		d.claimedAll(n)
		entered, start, took := make(chan struct{}), make(chan struct{}), make(chan int, 2)
		first := reaping(d, entered, start, took)
		<-entered
		clock.Advance(2 * time.Hour) // its lease has ended, and those of the jobs
		second := reaping(d, entered, start, took)
		<-entered
		if a, b := first.Status()[0], second.Status()[0]; a.Term != 1 || b.Term != 2 {
			d.Errorf("both are in a pass: %+v, %+v", a, b)
		}
		close(start)
		a, b := <-took, <-took
		d.Logf("one took %d back, the other one %d", a, b)
		if a+b != n {
			d.Errorf("%d and %d, together not %d", a, b, n)
		}
		back := dbtest.Get[int](d.T, d.Store, "select count(*) from jobs where state = 'pending' and attempt = 1")
		ended := dbtest.Get[int](d.T, d.Store, "select count(*) from runs where status = 'abandoned' and terminal_reason = 'lease_expired'")
		all := dbtest.Get[int](d.T, d.Store, "select count(*) from runs")
		if back != n || ended != n || all != n {
			d.Errorf("%d jobs are back, %d of %d runs ended", back, ended, all)
		}
	})
}

// CLM-20: a pass is bounded, so that the lease is renewed between thousands.
func TestPassOfTheReaperEndsAfterAThousand(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		clock := dbtest.Freeze(d.Store)
		d.claimedAll(1150)
		clock.Advance(2 * time.Minute)
		loop := reaper(jobs.ReapEvery)
		for _, want := range []int{loop.Batch, 150, 0} {
			if n, err := loop.Run(d.Context(), d.Store); n != want || err != nil {
				d.Errorf("a pass took %d back, want %d, %v", n, want, err)
			}
		}
		if !loop.Lease || loop.Batch != 1000 {
			d.Errorf("the reaper is %+v", loop)
		}
	})
}

// CLM-01 as a loop: workers finish around the end of their leases, some before
// and some after, while the reaper passes again and again.
func TestFinishesAroundTheEndOfTheirLeasesEndEachClaimOnce(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		const n, workers = 200, 4
		held := d.claimedAll(n)
		end := held[0].Job.LeaseExpiresAt.Add(runs.Grace)
		var mu sync.Mutex
		told := map[string]string{} // by job, what its worker heard
		var workersDone, reaperDone sync.WaitGroup
		stop := make(chan struct{})
		reaperDone.Go(func() {
			for i := 0; ; i++ { // its clock goes over the end, and stays there
				select {
				case <-stop:
					return
				default:
				}
				now := end.Add(time.Duration(min(i, 20)-10) * 50 * time.Millisecond)
				if err := d.Try(func(q model.Querier) error { _, err := jobs.Reap(d.Context(), q, now, "", evenly); return err }); err != nil {
					d.Error(err)
				}
			}
		})
		for w := range workers {
			workersDone.Go(func() {
				for k := w; k < n; k += workers {
					at := *d
					at.Now = end.Add(time.Duration(k-n/2) * 10 * time.Millisecond)
					_, err := at.finish(held[k], jobs.FinishIn{Action: jobs.Complete})
					mu.Lock()
					if told[held[k].Job.ID] = jobs.Succeeded; err != nil {
						d.faulted(err, "lease_lost", jobs.Pending)
						told[held[k].Job.ID] = jobs.Pending
					}
					mu.Unlock()
				}
			})
		}
		workersDone.Wait()
		close(stop)
		reaperDone.Wait()
		d.endedAsTold(held, told)
	})
}

// endedAsTold wants each job to be in the state that its worker was told, and its one
// run to have ended in that way.
func (d *fixture) endedAsTold(held []jobs.ClaimedJob, told map[string]string) {
	d.Helper()
	count := map[string]int{}
	for _, h := range held {
		job := d.job(h.Job.ID)
		ledger := d.runs(job.ID)
		want := map[string]string{jobs.Succeeded: runs.Succeeded, jobs.Pending: runs.Abandoned}[told[job.ID]]
		if job.State != told[job.ID] || job.Attempt != 1 || len(ledger) != 1 || ledger[0].Status != want {
			d.Errorf("%s is %s, its worker was told %q; runs %s", job.ID, job.State, told[job.ID], fmt.Sprint(ledger))
		}
		count[job.State]++
	}
	d.Logf("ended as %v", count)
}

package jobs_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

// atOnce runs fn(0) … fn(n-1), all let go at one moment.
func atOnce(n int, fn func(i int)) {
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range n {
		done.Go(func() {
			start.Wait()
			fn(i)
		})
	}
	start.Done()
	done.Wait()
}

// ENQ-03: many producers of one key.
func TestParallelEnqueuesOfOneKeyMakeOneJob(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		var mu sync.Mutex
		ids, fresh := map[string]int{}, 0
		atOnce(50, func(i int) {
			out, err := d.tryEnqueue(jobs.EnqueueIn{Kind: "build", Key: ptr("k"), Payload: js(fmt.Sprint(i))})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || out[0].Err != nil {
				d.Errorf("%d: %v", i, err)
				return
			}
			ids[out[0].Job.ID]++
			if !out[0].Deduplicated {
				fresh++
			}
		})
		if len(ids) != 1 || fresh != 1 {
			d.Errorf("%d ids, %d of them new", len(ids), fresh)
		}
		if n := dbtest.Get[int](d.T, d.Store, "select count(*) from jobs"); n != 1 {
			d.Errorf("%d jobs", n)
		}
	})
}

// drain claims from many sides until everything was claimed, and checks that
// nothing was handed out twice.
func drain(d *fixture, claimers, total int, limit func(i int) int64) {
	d.Helper()
	var mu sync.Mutex
	seen := map[string]int{}
	atOnce(claimers, func(i int) {
		for turn := uint64(0); ; turn++ {
			var got jobs.ClaimOut
			err := d.Try(func(q model.Querier) (err error) {
				got, err = jobs.Claim(d.Context(), q, d.Now, jobs.ClaimIn{
					OwnerID: d.Owner, Worker: fmt.Sprint("w", i), Kinds: []string{"a", "b"}, Limit: limit(i), Turn: turn,
				})
				return err
			})
			if err != nil {
				d.Errorf("claimer %d: %v", i, err)
			}
			mu.Lock()
			for _, c := range got.Jobs {
				seen[c.Job.ID]++
			}
			mu.Unlock()
			if int64(len(got.Jobs)) > limit(i) {
				d.Errorf("%d jobs claimed, at most %d were asked", len(got.Jobs), limit(i))
			}
			if len(got.Jobs) == 0 {
				return
			}
		}
	})
	for id, n := range seen {
		if n != 1 {
			d.Errorf("%s was claimed %d times", id, n)
		}
	}
	claimed := dbtest.Get[int](d.T, d.Store, "select count(*) from jobs where state = 'claimed' and attempt = 1")
	open := dbtest.Get[int](d.T, d.Store, "select count(*) from runs where status = 'running'")
	if len(seen) != total || claimed != total || open != total {
		d.Errorf("%d ids were handed out, %d rows are claimed, %d runs are open; want %d of each", len(seen), claimed, open, total)
	}
}

// CLM-05.
func TestHundredClaimersClaimEachOfAThousandJobsOnce(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		plant(d, 500, "a", jobs.Pending, d.Now)
		plant(d, 500, "b", jobs.Pending, d.Now)
		d.Pass(time.Second)
		drain(d, 100, 1000, func(i int) int64 { return int64(1 + i%10) })
	})
}

// CLM-06: a claim locks and marks exactly what it returns, under every plan.
func TestClaimTakesAsManyRowsAsItReturns(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		plant(d, 50, "a", jobs.Pending, d.Now)
		d.Pass(time.Second)
		for i, limit := range []int64{1, 5} {
			got := d.claimIn(jobs.ClaimIn{Kinds: []string{"a", "b"}, Limit: limit})
			claimed := dbtest.Get[int](d.T, d.Store, "select count(*) from jobs where state = 'claimed'")
			if want := []int{1, 6}[i]; len(got) != int(limit) || claimed != want {
				d.Errorf("limit %d: %d ids, %d rows claimed, want %d", limit, len(got), claimed, want)
			}
		}
		d.putKind(jobs.KindIn{Name: "b", LeaseSeconds: 60, MaxAttempts: 5, BackoffBaseSeconds: 5, BackoffCapSeconds: 9})
		plant(d, 106, "b", jobs.Pending, d.Now.Add(-time.Second))
		dbtest.SQL(d.T, d.Store, "delete from runs")
		dbtest.SQL(d.T, d.Store, "delete from jobs where state = 'claimed'")
		drain(d, 8, 150, func(i int) int64 { return []int64{1, 5}[i%2] })
	})
}

// An empty answer is true: two jobs of two kinds, one transaction held open.
func TestTwoClaimersOfTwoKindsBothGetOne(t *testing.T) {
	each(t, func(d *fixture) {
		d.enqueue(jobs.EnqueueIn{Kind: "a"})
		d.enqueue(jobs.EnqueueIn{Kind: "b"})
		claim := func(q model.Querier, worker string) ([]jobs.ClaimedJob, error) {
			got, err := jobs.Claim(d.Context(), q, d.Now, jobs.ClaimIn{OwnerID: d.Owner, Worker: worker, Kinds: []string{"a", "b"}, Limit: 1})
			return got.Jobs, err
		}
		var first []jobs.ClaimedJob
		second := make(chan []jobs.ClaimedJob, 1)
		other := func() {
			var got []jobs.ClaimedJob
			err := d.Try(func(q model.Querier) (err error) {
				got, err = claim(q, "w2")
				return err
			})
			if err != nil {
				d.Error(err)
			}
			second <- got
		}
		d.Tx(func(q model.Querier) (err error) {
			first, err = claim(q, "w1")
			if d.Store.Engine() == store.Postgres {
				other() // while this transaction is open
			} else {
				go other() // it queues for the writer
			}
			return err
		})
		got := <-second
		if len(first) != 1 || len(got) != 1 || first[0].Job.ID == got[0].Job.ID {
			d.Errorf("the first got %d, the second %d", len(first), len(got))
		}
	})
}

func TestClaimLeavesRowsOfAnOpenClaimAndTakesTheNext(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := dbtest.Open(t, storeOf(t, store.Postgres))
		d := newFixture(t, s)
		plant(d, 10, "a", jobs.Pending, d.Now)
		d.Pass(time.Second)
		abort := errors.New("abort")
		err := s.Tx(t.Context(), func(q model.Querier) error {
			first, err := jobs.Claim(t.Context(), q, d.Now, jobs.ClaimIn{OwnerID: d.Owner, Worker: "w1", Kinds: []string{"a"}, Limit: 3})
			if err != nil || len(first.Jobs) != 3 {
				t.Errorf("%d, %v", len(first.Jobs), err)
			}
			if got := d.claimIn(jobs.ClaimIn{Kinds: []string{"a"}, Limit: 100}); len(got) != 7 {
				t.Errorf("the other claim got %d of the 7 that are not locked", len(got))
			}
			return abort
		})
		if !errors.Is(err, abort) {
			t.Fatal(err)
		}
		if got := d.claimIn(jobs.ClaimIn{Kinds: []string{"a"}, Limit: 100}); len(got) != 3 {
			t.Errorf("%d of 3 came back with the rollback", len(got))
		}
	})
}

// CLM-01 as a race: the reaper and the holder end the same claims at once.
func TestReaperAndHolderEndEachClaimOnce(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		const n = 100
		plant(d, n, "build", jobs.Pending, d.Now)
		d.Pass(time.Second)
		held := d.claimIn(jobs.ClaimIn{Limit: n})
		d.Pass(2 * time.Minute)
		var mu sync.Mutex
		done, lost := 0, 0
		atOnce(6, func(i int) {
			if i >= 4 {
				for range 3 {
					d.Tx(func(q model.Querier) error { _, err := jobs.Reap(d.Context(), q, d.Now, "", evenly); return err })
				}
				return
			}
			for k := i; k < n; k += 4 {
				_, err := d.finish(held[k], jobs.FinishIn{Action: jobs.Complete})
				mu.Lock()
				if err == nil {
					done++
				} else {
					d.faulted(err, "lease_lost", jobs.Pending)
					lost++
				}
				mu.Unlock()
			}
		})
		ended := dbtest.Get[int](d.T, d.Store, "select count(*) from jobs where state = 'succeeded'")
		back := dbtest.Get[int](d.T, d.Store, "select count(*) from jobs where state = 'pending'")
		good := dbtest.Get[int](d.T, d.Store, "select count(*) from runs where status = 'succeeded'")
		gone := dbtest.Get[int](d.T, d.Store, "select count(*) from runs where status = 'abandoned'")
		if done+lost != n || ended != done || back != lost || good != done || gone != lost {
			d.Errorf("told done %d, lost %d; jobs succeeded %d, pending %d; runs succeeded %d, abandoned %d", done, lost, ended, back, good, gone)
		}
	})
}

// ENQ-01: in parallel, one retry counts and the other hears that it is done.
func TestParallelRetriesReviveOnce(t *testing.T) {
	each(t, func(d *fixture) {
		for round := range 5 {
			held := d.held(jobs.EnqueueIn{Key: ptr(fmt.Sprint(round))})
			d.finished(held, jobs.FinishIn{Action: jobs.Fail})
			errs := make([]error, 2)
			atOnce(2, func(i int) { _, errs[i] = d.retry(held.Job.ID) })
			slices.SortFunc(errs, func(a, _ error) int {
				if a == nil {
					return -1
				}
				return 1
			})
			if errs[0] != nil {
				d.Errorf("both were refused: %v", errs[0])
			}
			d.faulted(errs[1], "state_conflict", jobs.Pending)
			d.claim()
		}
	})
}

func TestRetryAndEnqueueOfOneKeyLeaveOneLiveJob(t *testing.T) {
	each(t, func(d *fixture) {
		for round := range 10 {
			key := fmt.Sprint(round)
			held := d.held(jobs.EnqueueIn{Key: &key})
			d.finished(held, jobs.FinishIn{Action: jobs.Fail})
			var enqueued []jobs.Enqueued
			errs := make([]error, 2)
			atOnce(2, func(i int) {
				if i == 0 {
					_, errs[0] = d.retry(held.Job.ID)
					return
				}
				enqueued, errs[1] = d.tryEnqueue(jobs.EnqueueIn{Kind: "build", Key: &key})
			})
			if errs[1] != nil {
				d.Fatal(errs[1])
			}
			if revived := errs[0] == nil; revived != enqueued[0].Deduplicated {
				d.Errorf("revived %v, deduplicated %v: %v", revived, enqueued[0].Deduplicated, errs[0])
			}
			if errs[0] != nil {
				d.faulted(errs[0], "key_in_use", jobs.Pending)
			}
			d.claim()
		}
	})
}

// DBC-08: batches that name the same keys in opposite order.
func TestBatchesInOppositeOrderDoNotDeadlock(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		forward := make([]jobs.EnqueueIn, 50)
		for i := range forward {
			forward[i] = jobs.EnqueueIn{Kind: fmt.Sprint("k", i%3), Key: ptr(fmt.Sprintf("key-%02d", i))}
		}
		backward := slices.Clone(forward)
		slices.Reverse(backward)
		atOnce(4, func(i int) {
			for range 4 {
				out, err := d.tryEnqueue([][]jobs.EnqueueIn{forward, backward}[i%2]...)
				if err != nil {
					d.Errorf("batch: %v", err)
					return
				}
				for k, e := range out {
					if want := [][]jobs.EnqueueIn{forward, backward}[i%2][k].Key; e.Err != nil || text(e.Job.Key) != *want {
						d.Errorf("item %d is %s: %v", k, text(e.Job.Key), e.Err)
					}
				}
			}
		})
		if n := dbtest.Get[int](d.T, d.Store, "select count(*) from jobs"); n != 50 {
			d.Errorf("%d jobs, want 50", n)
		}
		d.noDeadlock()
	})
}

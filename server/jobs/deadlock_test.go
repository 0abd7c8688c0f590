package jobs_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// noDeadlock checks that nothing had to be rolled back to break a tie: rows are
// locked in one order everywhere.
func (d *fixture) noDeadlock() {
	d.Helper()
	if d.Store.Engine() != store.Postgres {
		return
	}
	conn, _ := pgConn(d.T, d.Store)
	var n int
	err := conn.QueryRow(d.Context(), "select deadlocks from pg_stat_database where datname = current_database()").Scan(&n)
	if err != nil || n != 0 {
		d.Errorf("%d deadlocks, %v", n, err)
	}
}

// Rows are locked in the order of ids whatever the order of their keys.
func TestBatchesOverLiveKeysAndBatchFinishesDoNotDeadlock(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		const n = 60
		items := make([]jobs.EnqueueIn, n)
		for i := range items {
			items[i] = jobs.EnqueueIn{Kind: "build", Key: ptr(fmt.Sprintf("k%03d", n-i))} // ids rise, keys fall
		}
		for range 3 {
			if _, err := d.tryEnqueue(items...); err != nil {
				d.Fatal(err)
			}
			var ends []jobs.FinishIn
			for _, c := range d.claimIn(jobs.ClaimIn{Limit: n}) {
				ends = append(ends, jobs.FinishIn{OwnerID: d.Owner, ID: c.Job.ID, LeaseToken: *c.Job.LeaseToken, Action: jobs.Complete})
			}
			atOnce(6, func(i int) {
				if i%2 == 0 {
					out, err := d.tryEnqueue(items...)
					for k, e := range out {
						if e.Err != nil || text(e.Job.Key) != *items[k].Key {
							d.Errorf("item %d was answered with %s, %v", k, text(e.Job.Key), e.Err)
						}
					}
					if err != nil {
						d.Error(err)
					}
					return
				}
				err := d.Try(func(q model.Querier) error {
					_, err := jobs.FinishAll(d.Context(), q, d.Now, ends)
					return err
				})
				if err != nil {
					d.Error(err)
				}
			})
		}
		if live := dbtest.Get[int](d.T, d.Store, "select count(*) from jobs where finished_at is null"); live != n {
			d.Errorf("%d live jobs of %d keys", live, n)
		}
		d.noDeadlock()
	})
}

// Finishing batches beside single finishes, enqueues and the reaper.
func TestBatchFinishesInOppositeOrderDoNotDeadlock(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		const n = 60
		plant(d, n, "build", jobs.Pending, d.Now)
		d.Pass(time.Second)
		held := d.claimIn(jobs.ClaimIn{Limit: n})
		items := make([]jobs.FinishIn, n)
		for i, c := range held {
			items[i] = jobs.FinishIn{OwnerID: d.Owner, ID: c.Job.ID, LeaseToken: *c.Job.LeaseToken, Action: jobs.Complete}
		}
		backward := slices.Clone(items)
		slices.Reverse(backward)
		d.Pass(2 * time.Minute)
		atOnce(5, func(i int) {
			err := d.Try(func(q model.Querier) error {
				if i == 4 {
					_, err := jobs.Reap(d.Context(), q, d.Now, "", evenly)
					return err
				}
				out, err := jobs.FinishAll(d.Context(), q, d.Now, [][]jobs.FinishIn{items, backward}[i%2])
				for k, f := range out {
					if f.Fault == nil && f.Job.ID != [][]jobs.FinishIn{items, backward}[i%2][k].ID {
						d.Errorf("item %d was answered with %s", k, f.Job.ID)
					}
				}
				return err
			})
			var f *fault.Fault
			if err != nil && !errors.As(err, &f) {
				d.Error(err)
			}
		})
		if open := dbtest.Get[int](d.T, d.Store, "select count(*) from runs where status = '"+runs.Running+"'"); open != 0 {
			d.Errorf("%d runs are open", open)
		}
		d.noDeadlock()
	})
}

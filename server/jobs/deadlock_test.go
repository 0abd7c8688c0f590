package jobs_test

import (
	"errors"
	"fmt"
	"maps"
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
			ends := completions(d.claimIn(jobs.ClaimIn{Limit: n}))
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
					_, err := jobs.CompleteAll(d.Context(), q, d.Now, d.Owner, ends)
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

// Batches in both orders, some of whose jobs are asked for again, beside everybody
// else who takes rows of theirs.
func TestBatchFinishesBesideAllOthersDoNotDeadlock(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		const n = 40
		keyed := make([]jobs.EnqueueIn, n)
		for i := range keyed {
			keyed[i] = jobs.EnqueueIn{Kind: "build", Key: ptr(fmt.Sprintf("k%03d", i*7%n))}
		}
		if _, err := d.tryEnqueue(keyed...); err != nil {
			d.Fatal(err)
		}
		held := d.claimIn(jobs.ClaimIn{Limit: n})
		for i := 0; i < n; i += 3 {
			d.enqueue(jobs.EnqueueIn{Key: held[i].Job.Key})
		}
		forward := completions(held)
		backward := slices.Clone(forward)
		slices.Reverse(backward)
		d.Pass(2 * time.Minute)
		everybody := d.others(held, keyed)
		everybody["forward"], everybody["backward"] = d.batch(forward), d.batch(backward)
		everybody["the half"] = d.batch(backward[n/4 : 3*n/4])
		d.besideEachOther(everybody)
		d.unbroken()
		d.noDeadlock()
	})
}

// others are all who take rows of jobs that are held, by name.
func (d *fixture) others(held []jobs.ClaimedJob, keyed []jobs.EnqueueIn) map[string]func(q model.Querier, i int) error {
	return map[string]func(q model.Querier, i int) error{
		"enqueue": func(q model.Querier, _ int) error {
			_, err := jobs.Enqueue(d.Context(), q, d.Now, d.Owner, keyed)
			return err
		},
		"reap": func(q model.Querier, _ int) error {
			_, err := jobs.Reap(d.Context(), q, d.Now, "", evenly)
			return err
		},
		"claim": func(q model.Querier, _ int) error {
			_, err := jobs.Claim(d.Context(), q, d.Now, d.whole(jobs.ClaimIn{Limit: 9}))
			return err
		},
		"cancel": func(q model.Querier, i int) error {
			_, err := jobs.Cancel(d.Context(), q, d.Now, d.byHand(held[i].Job.ID))
			return err
		},
		"heartbeat": func(q model.Querier, i int) error {
			_, err := jobs.Heartbeat(d.Context(), q, d.Now, jobs.HeartbeatIn{OwnerID: d.Owner, ID: held[i].Job.ID, LeaseToken: *held[i].Job.LeaseToken})
			return err
		},
		"log": func(q model.Querier, i int) error {
			_, err := runs.Append(d.Context(), q, d.Now, runs.AppendIn{OwnerID: d.Owner, JobID: held[i].Job.ID, LeaseToken: *held[i].Job.LeaseToken, Seq: 1, Text: "x"})
			return err
		},
	}
}

// batch completes items, and checks that each is answered by its own job.
func (d *fixture) batch(items []jobs.Completion) func(q model.Querier, i int) error {
	return func(q model.Querier, _ int) error {
		out, err := jobs.CompleteAll(d.Context(), q, d.Now, d.Owner, items)
		for k, f := range out {
			if f.Fault == nil && (f.Job.ID != items[k].ID || text(f.Run.JobID) != items[k].ID) {
				d.Errorf("item %d was answered with %s and the run of %s", k, f.Job.ID, text(f.Run.JobID))
			}
		}
		return err
	}
}

// besideEachOther lets everybody do six transactions, all at once.
func (d *fixture) besideEachOther(everybody map[string]func(q model.Querier, i int) error) {
	d.Helper()
	names := slices.Sorted(maps.Keys(everybody))
	atOnce(len(names), func(k int) {
		for i := range 6 {
			err := d.Try(func(q model.Querier) error { return everybody[names[k]](q, i) })
			var f *fault.Fault
			if err != nil && !errors.As(err, &f) && !store.NotFound(err) {
				d.Errorf("%s: %v", names[k], err)
			}
		}
	})
}

// unbroken checks the invariants of a queue.
func (d *fixture) unbroken() {
	d.Helper()
	rows, err := dbtest.DB(d.T, d.Store).QueryContext(d.Context(), broken)
	if err != nil {
		d.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil || name != "runs" {
			d.Errorf("%s: %d, %v", name, n, err)
		}
	}
	if err := rows.Err(); err != nil {
		d.Error(err)
	}
}

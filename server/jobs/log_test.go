package jobs_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// print appends a text to the log of held's attempt.
func (d *fixture) print(held jobs.ClaimedJob, seq int64, text string) (runs.Appended, error) {
	return d.append(runs.AppendIn{OwnerID: d.Owner, JobID: held.Job.ID, LeaseToken: *held.Job.LeaseToken, Seq: seq, Text: text})
}

func (d *fixture) append(in runs.AppendIn) (done runs.Appended, err error) {
	err = d.Try(func(q model.Querier) error {
		done, err = jobs.AppendLog(d.Context(), q, d.Now, in)
		return err
	})
	return done, err
}

func (d *fixture) printed(held jobs.ClaimedJob, seq int64, text string) {
	d.Helper()
	if done, err := d.print(held, seq, text); err != nil || done.RunID != held.RunID || done.Duplicate {
		d.Errorf("append %d: %+v, %v", seq, done, err)
	}
}

// shows checks the log of held's run.
func (d *fixture) shows(held jobs.ClaimedJob, want string) {
	d.Helper()
	if log, err := runs.LogOf(d.Context(), d.Store, d.Owner, held.RunID); err != nil || log.Text != want {
		d.Errorf("the log is %q, %v; want %q", log.Text, err, want)
	}
}

func TestLogTakesAppendsOfThePresentLeaseOnly(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		late := d.held(jobs.EnqueueIn{})
		d.printed(late, 1, "first holder\n")
		d.Pass(time.Minute + time.Second)
		d.printed(late, 2, "past its end\n") // not yet taken back
		d.Pass(time.Minute)
		d.reap()
		_, err := d.print(late, 3, "taken back\n")
		d.faulted(err, "lease_lost", jobs.Pending)

		now := d.claim()
		d.printed(now, 1, "second holder\n")
		_, err = d.print(late, 4, "taken over\n")
		d.faulted(err, "lease_lost", jobs.Claimed)
		d.shows(late, "first holder\npast its end\n")
		d.shows(now, "second holder\n")
	})
}

func TestLogTakesNoAppendAfterTheFinish(t *testing.T) {
	each(t, func(d *fixture) {
		for _, in := range actions {
			held := d.held(jobs.EnqueueIn{Priority: ptr(int64(1))})
			d.printed(held, 1, "said")
			job := d.finished(held, in).Job
			_, err := d.print(held, 2, "and more")
			d.faulted(err, "lease_lost", job.State)
			d.shows(held, "said")
			if job.State == jobs.Pending {
				_, _ = d.cancel(job.ID)
			}
		}
	})
}

func TestLogOfAForeignOrUnknownJobIsNotFound(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		in := runs.AppendIn{OwnerID: d.Owner, JobID: "job_x", LeaseToken: *held.Job.LeaseToken, Seq: 1, Text: "x"}
		_, err := d.append(in)
		d.faulted(err, "not_found", "")
		in.JobID, in.OwnerID = held.Job.ID, dbtest.Owner(d.T, d.Store, "bob").ID
		_, err = d.append(in)
		d.faulted(err, "not_found", "")
		in.OwnerID, in.LeaseToken = d.Owner, "another"
		_, err = d.append(in)
		d.faulted(err, "lease_lost", jobs.Claimed)
		d.shows(held, "")
	})
}

// On PostgreSQL xmax would show a lock of the row, and ctid a new version of it.
func TestAppendsLeaveTheRowOfTheJobAlone(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		before, version := d.job(held.Job.ID), ""
		read := "select xmin::text || ' ' || xmax::text || ' ' || ctid::text from jobs where id = $1"
		if d.Store.Engine() == store.Postgres {
			version = dbtest.Get[string](d.T, d.Store, read, held.Job.ID)
		}
		for i := range int64(40) {
			d.Pass(time.Second)
			d.printed(held, i+1, strings.Repeat("x", 4_000))
		}
		if diff := cmp.Diff(before, d.job(held.Job.ID)); diff != "" {
			d.Errorf("(-before +after)\n%s", diff)
		}
		if d.Store.Engine() != store.Postgres {
			return
		}
		if now := dbtest.Get[string](d.T, d.Store, read, held.Job.ID); now != version {
			d.Errorf("the row was %s and is %s", version, now)
		}
	})
}

// So a finish and the next append wait for an append that is on its way, and a
// heartbeat does not.
func TestAppendHoldsTheRunAndNotTheJob(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		d := newFixture(t, dbtest.Open(t, storeOf(t, store.Postgres)))
		held := d.held(jobs.EnqueueIn{})
		d.Tx(func(q model.Querier) error {
			_, err := jobs.AppendLog(t.Context(), q, d.Now, runs.AppendIn{OwnerID: d.Owner, JobID: held.Job.ID, LeaseToken: *held.Job.LeaseToken, Seq: 1, Text: "x"})
			for table, want := range map[string]int{"runs": 0, "jobs": 1} {
				free := "select count(*) from (select 1 from " + table + " where owner_id = $1 for no key update skip locked) f"
				if n := dbtest.Get[int](t, d.Store, free, d.Owner); n != want {
					t.Errorf("%d rows of %s can be changed meanwhile, want %d", n, table, want)
				}
			}
			return err
		})
	})
}

// A finish on its way and many appends: each append is either before it, and in the
// log, or refused.
func TestAppendsBesideAFinishAreInTheLogOrRefused(t *testing.T) {
	each(t, func(d *fixture) {
		for range 5 {
			held := d.held(jobs.EnqueueIn{})
			var mu sync.Mutex
			taken := int64(0)
			atOnce(5, func(i int) {
				if i == 4 {
					if _, err := d.finish(held, jobs.FinishIn{Action: jobs.Complete}); err != nil {
						d.Error(err)
					}
					return
				}
				for seq := range int64(5) {
					done, err := d.print(held, 4*seq+int64(i)+1, fmt.Sprintf("%-99d\n", i))
					var f *fault.Fault
					mu.Lock()
					switch {
					case err == nil && !done.Duplicate:
						taken++
					case err != nil && (!errors.As(err, &f) || f.Code != "lease_lost"):
						d.Errorf("append: %v", err)
					}
					mu.Unlock()
				}
			})
			if log, err := runs.LogOf(d.Context(), d.Store, d.Owner, held.RunID); err != nil || log.Bytes != 100*taken {
				d.Errorf("%v: %d bytes are in the log, %d appends were taken", err, log.Bytes, taken)
			}
		}
	})
}

func TestWarningIsThatOfTheFirstFinish(t *testing.T) {
	each(t, func(d *fixture) {
		for _, in := range actions {
			held := d.held(jobs.EnqueueIn{Priority: ptr(int64(1))})
			in.Warning = "of the first"
			d.finished(held, in)
			in.Warning = "of the second"
			job := d.finished(held, in).Job
			if run := d.runs(held.Job.ID)[0]; text(run.Warning) != "of the first" {
				d.Errorf("%s: the run keeps %s", in.Action, text(run.Warning))
			}
			if job.State == jobs.Pending {
				_, _ = d.cancel(job.ID)
			}
		}
		held := d.held(jobs.EnqueueIn{})
		d.finished(held, jobs.FinishIn{Action: jobs.Complete})
		if run := d.runs(held.Job.ID)[0]; run.Warning != nil {
			d.Errorf("no warning was given: %q", *run.Warning)
		}
	})
}

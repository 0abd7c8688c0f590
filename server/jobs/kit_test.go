package jobs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// desk is one owner's queue under a clock that stands still until it is moved.
type desk struct {
	*testing.T
	s     *store.Store
	owner string
	now   coltype.Time
}

// each runs fn at a fresh desk of each engine.
func each(t *testing.T, fn func(d *desk)) {
	t.Helper()
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		fn(&desk{T: t, s: s, owner: dbtest.Owner(t, s, "ada").ID, now: dbtest.T0})
	})
}

func (d *desk) pass(by time.Duration) { d.now = d.now.Add(by) }

// try runs fn in one transaction. It tries again when a connection, or SQLite's
// writer, was not to be had in time, as a client does after Retry-After: on a
// busy machine and under the race detector the queue is long.
func (d *desk) try(fn func(q model.Querier) error) error {
	for {
		err := d.s.Tx(d.Context(), fn)
		var f *fault.Fault
		if !errors.As(err, &f) || f.Code != "unavailable" || d.Context().Err() != nil {
			return err
		}
	}
}

// tx runs fn in one transaction; an error fails the test.
func (d *desk) tx(fn func(q model.Querier) error) {
	d.Helper()
	if err := d.try(fn); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) tryEnqueue(items ...jobs.EnqueueIn) (out []jobs.Enqueued, err error) {
	err = d.try(func(q model.Querier) error {
		out, err = jobs.Enqueue(d.Context(), q, d.now, d.owner, items)
		return err
	})
	return out, err
}

// enqueue enqueues one item, which must be taken.
func (d *desk) enqueue(in jobs.EnqueueIn) jobs.Enqueued {
	d.Helper()
	if in.Kind == "" {
		in.Kind = "build"
	}
	out, err := d.tryEnqueue(in)
	if err == nil {
		err = out[0].Err
	}
	if err != nil {
		d.Fatalf("enqueue: %v", err)
	}
	return out[0]
}

func (d *desk) claimIn(in jobs.ClaimIn) []jobs.ClaimedJob {
	d.Helper()
	var out jobs.ClaimOut
	in.OwnerID = d.owner
	if in.Worker == "" {
		in.Worker = "w1"
	}
	if in.Kinds == nil {
		in.Kinds = []string{"build"}
	}
	if in.Limit == 0 {
		in.Limit = 1
	}
	d.tx(func(q model.Querier) (err error) {
		out, err = jobs.Claim(d.Context(), q, d.now, in)
		return err
	})
	in.Floors.Note(out)
	return out.Jobs
}

// claim claims one job of the kinds ("build" if none is named).
func (d *desk) claim(kinds ...string) jobs.ClaimedJob {
	d.Helper()
	got := d.claimIn(jobs.ClaimIn{Kinds: kinds})
	if len(got) != 1 {
		d.Fatalf("claimed %d jobs, want 1", len(got))
	}
	return got[0]
}

// held enqueues a job and claims it.
func (d *desk) held(in jobs.EnqueueIn) jobs.ClaimedJob {
	d.Helper()
	d.enqueue(in)
	return d.claim()
}

// finish ends the claim of held; in needs its action only.
func (d *desk) finish(held jobs.ClaimedJob, in jobs.FinishIn) (out jobs.Outcome, err error) {
	in.OwnerID, in.ID = d.owner, held.Job.ID
	if in.LeaseToken == "" {
		in.LeaseToken = *held.Job.LeaseToken
	}
	if in.Jitter == 0 {
		in.Jitter = 1
	}
	err = d.try(func(q model.Querier) error {
		out, err = jobs.Finish(d.Context(), q, d.now, in)
		return err
	})
	return out, err
}

// finished is finish for an end that must be taken.
func (d *desk) finished(held jobs.ClaimedJob, in jobs.FinishIn) jobs.Outcome {
	d.Helper()
	out, err := d.finish(held, in)
	if err != nil {
		d.Fatalf("%s: %v", in.Action, err)
	}
	return out
}

func (d *desk) beat(held jobs.ClaimedJob, in jobs.HeartbeatIn) (beat jobs.Beat, err error) {
	in.OwnerID, in.ID = d.owner, held.Job.ID
	if in.LeaseToken == "" {
		in.LeaseToken = *held.Job.LeaseToken
	}
	err = d.try(func(q model.Querier) error {
		beat, err = jobs.Heartbeat(d.Context(), q, d.now, in)
		return err
	})
	return beat, err
}

func (d *desk) byHand(id string) jobs.ByHandIn {
	return jobs.ByHandIn{OwnerID: d.owner, ID: id, Actor: "ada"}
}

func (d *desk) cancel(id string) (job model.Job, err error) {
	err = d.try(func(q model.Querier) error {
		job, err = jobs.Cancel(d.Context(), q, d.now, d.byHand(id))
		return err
	})
	return job, err
}

func (d *desk) retry(id string) (job model.Job, err error) {
	err = d.try(func(q model.Querier) error {
		job, err = jobs.Retry(d.Context(), q, d.now, d.byHand(id))
		return err
	})
	return job, err
}

// reap runs one pass of the reaper and returns how many jobs it took back.
func (d *desk) reap() int {
	d.Helper()
	var out jobs.Reaped
	d.tx(func(q model.Querier) (err error) {
		out, err = jobs.Reap(d.Context(), q, d.now, "")
		return errors.Join(err, out.Bad)
	})
	return out.Done
}

func (d *desk) job(id string) model.Job {
	d.Helper()
	job, err := jobs.Get(d.Context(), d.s, d.owner, id)
	if err != nil {
		d.Fatal(err)
	}
	return job
}

// runs are the attempts of a job, the latest first.
func (d *desk) runs(id string) []runs.Run {
	d.Helper()
	page, _, err := runs.List.Page(d.Context(), d.s, runs.ListIn{OwnerID: d.owner, JobID: id}, keyset.Top(), 100)
	if err != nil {
		d.Fatal(err)
	}
	return page
}

// list reads all jobs that in selects, page by page.
func (d *desk) list(in jobs.ListIn) (all []model.Job) {
	d.Helper()
	in.OwnerID = d.owner
	for from := keyset.Top(); ; {
		page, next, err := jobs.List.Page(d.Context(), d.s, in, from, 100)
		if err != nil {
			d.Fatal(err)
		}
		all = append(all, page...)
		if next == nil {
			return all
		}
		from = *next
	}
}

// faulted checks that err is the fault of that code, and what it says of the
// job's state ("" when it says nothing).
func (d *desk) faulted(err error, code, state string) {
	d.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != code {
		d.Errorf("got %v, want the fault %s", err, code)
		return
	}
	if got, _ := f.Members["state"].(string); got != state {
		d.Errorf("%s names the state %q, want %q", code, got, state)
	}
}

// state checks a job's state.
func (d *desk) state(id, want string) model.Job {
	d.Helper()
	job := d.job(id)
	if job.State != want {
		d.Errorf("%s is %s, want %s", id, job.State, want)
	}
	return job
}

func ptr[T any](v T) *T { return &v }

func text(p *string) string {
	if p == nil {
		return "(null)"
	}
	return *p
}

func js(s string) coltype.JSON { return coltype.JSON(s) }

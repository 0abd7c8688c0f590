package jobs_test

import (
	"cmp"
	"errors"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// fixture is an owner's queue, with the operations as a test calls them.
type fixture struct {
	dbtest.Fixture
	floors *jobs.Floors // of the claims; nil is none
}

func newFixture(t *testing.T, s *store.Store) *fixture {
	t.Helper()
	return &fixture{Fixture: dbtest.NewFixture(t, s)}
}

// eachWhole is for what counts all rows, or takes back everybody's.
var each, eachWhole = dbtest.EachOf(newFixture)

func (d *fixture) tryEnqueue(items ...jobs.EnqueueIn) (out []jobs.Enqueued, err error) {
	err = d.Try(func(q model.Querier) error {
		out, err = jobs.Enqueue(d.Context(), q, d.Now, d.Owner, items)
		return err
	})
	return out, err
}

// enqueue enqueues one item, which must be taken.
func (d *fixture) enqueue(in jobs.EnqueueIn) jobs.Enqueued {
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

func (d *fixture) claimIn(in jobs.ClaimIn) []jobs.ClaimedJob {
	d.Helper()
	var out jobs.ClaimOut
	in = d.whole(in)
	d.Tx(func(q model.Querier) (err error) {
		out, err = jobs.Claim(d.Context(), q, d.Now, in)
		return err
	})
	d.floors.Note(out)
	return out.Jobs
}

// whole is in with what it leaves out: the owner, a worker, one job of "build",
// and where to begin.
func (d *fixture) whole(in jobs.ClaimIn) jobs.ClaimIn {
	in.OwnerID, in.Worker, in.Limit = d.Owner, cmp.Or(in.Worker, "w1"), cmp.Or(in.Limit, 1)
	if in.Kinds == nil {
		in.Kinds = []string{"build"}
	}
	in.Start = d.floors.Start(d.Now, d.Owner, in.Kinds)
	return in
}

// claim claims one job of the kinds ("build" if none is named).
func (d *fixture) claim(kinds ...string) jobs.ClaimedJob {
	d.Helper()
	got := d.claimIn(jobs.ClaimIn{Kinds: kinds})
	if len(got) != 1 {
		d.Fatalf("claimed %d jobs, want 1", len(got))
	}
	return got[0]
}

// held enqueues a job and claims it.
func (d *fixture) held(in jobs.EnqueueIn) jobs.ClaimedJob {
	d.Helper()
	d.enqueue(in)
	return d.claim()
}

// finish ends the claim of held; in needs its action only.
func (d *fixture) finish(held jobs.ClaimedJob, in jobs.FinishIn) (out jobs.Outcome, err error) {
	in.OwnerID, in.ID = d.Owner, held.Job.ID
	if in.LeaseToken == "" {
		in.LeaseToken = *held.Job.LeaseToken
	}
	if in.Jitter == 0 {
		in.Jitter = 1
	}
	err = d.Try(func(q model.Querier) error {
		out, err = jobs.Finish(d.Context(), q, d.Now, in)
		return err
	})
	return out, err
}

// finished is finish for an end that must be taken.
func (d *fixture) finished(held jobs.ClaimedJob, in jobs.FinishIn) jobs.Outcome {
	d.Helper()
	out, err := d.finish(held, in)
	if err != nil {
		d.Fatalf("%s: %v", in.Action, err)
	}
	return out
}

// completions complete what is held.
func completions(held []jobs.ClaimedJob) []jobs.Completion {
	out := make([]jobs.Completion, len(held))
	for i, c := range held {
		out[i] = jobs.Completion{ID: c.Job.ID, LeaseToken: *c.Job.LeaseToken}
	}
	return out
}

// complete is one batch of completions, which must run.
func (d *fixture) complete(items ...jobs.Completion) (out []jobs.Finished) {
	d.Helper()
	d.Tx(func(q model.Querier) (err error) {
		out, err = jobs.CompleteAll(d.Context(), q, d.Now, d.Owner, items)
		return err
	})
	return out
}

func (d *fixture) beat(held jobs.ClaimedJob, in jobs.HeartbeatIn) (beat jobs.Beat, err error) {
	in.OwnerID, in.ID = d.Owner, held.Job.ID
	if in.LeaseToken == "" {
		in.LeaseToken = *held.Job.LeaseToken
	}
	err = d.Try(func(q model.Querier) error {
		beat, err = jobs.Heartbeat(d.Context(), q, d.Now, in)
		return err
	})
	return beat, err
}

func (d *fixture) byHand(id string) jobs.ByHandIn {
	return jobs.ByHandIn{OwnerID: d.Owner, ID: id, Actor: "ada"}
}

func (d *fixture) cancel(id string) (job model.Job, err error) {
	err = d.Try(func(q model.Querier) error {
		job, err = jobs.Cancel(d.Context(), q, d.Now, d.byHand(id))
		return err
	})
	return job, err
}

func (d *fixture) retry(id string) (job model.Job, err error) {
	err = d.Try(func(q model.Querier) error {
		job, err = jobs.Retry(d.Context(), q, d.Now, d.byHand(id))
		return err
	})
	return job, err
}

// evenly is a backoff without a random part.
func evenly() float64 { return 1 }

// reap runs one pass of the reaper and returns how many jobs it took back.
func (d *fixture) reap() int {
	d.Helper()
	var out jobs.Reaped
	d.Tx(func(q model.Querier) (err error) {
		out, err = jobs.Reap(d.Context(), q, d.Now, "", evenly)
		return errors.Join(err, out.Bad)
	})
	return len(out.Done)
}

func (d *fixture) job(id string) model.Job {
	d.Helper()
	job, err := jobs.Get(d.Context(), d.Store, d.Owner, id)
	if err != nil {
		d.Fatal(err)
	}
	return job
}

// runs are the attempts of a job, the latest first.
func (d *fixture) runs(id string) []runs.Run {
	d.Helper()
	page, _, err := runs.List.Page(d.Context(), d.Store, runs.ListIn{OwnerID: d.Owner, JobID: id}, keyset.Top(), 100)
	if err != nil {
		d.Fatal(err)
	}
	return page
}

// followed is the job that follows of; there must be one.
func (d *fixture) followed(of model.Job) model.Job {
	d.Helper()
	if of.FollowedBy == nil {
		d.Fatalf("%s has no successor", of.ID)
	}
	return d.job(*of.FollowedBy)
}

// list reads all jobs that in selects, page by page.
func (d *fixture) list(in jobs.ListIn) (all []model.Job) {
	d.Helper()
	in.OwnerID = d.Owner
	for from := keyset.Top(); ; {
		page, next, err := jobs.List.Page(d.Context(), d.Store, in, from, 100)
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
func (d *fixture) faulted(err error, code, state string) {
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
func (d *fixture) state(id, want string) model.Job {
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

package jobs_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/runs"
)

// past is what has become of a job before a batch names it: fn returns the claim
// whose token the batch has.
type past struct {
	name string
	fn   func(d *fixture, held jobs.ClaimedJob) jobs.ClaimedJob
}

// beatAhead is a heartbeat by a clock that is ahead.
func (d *fixture) beatAhead(held jobs.ClaimedJob, by time.Duration) {
	d.Pass(by)
	_, _ = d.beat(held, jobs.HeartbeatIn{})
	d.Pass(-by)
}

// pasts leave a job ordinary, or something else.
var pasts = []past{
	{"ordinary", func(_ *fixture, held jobs.ClaimedJob) jobs.ClaimedJob { return held }},
	{"with progress", after(func(d *fixture, held jobs.ClaimedJob) {
		_, _ = d.beat(held, jobs.HeartbeatIn{Progress: js(`{"half":0.50}`)})
	})},
	{"changed a little later than now", after(func(d *fixture, held jobs.ClaimedJob) { d.beatAhead(held, time.Second) })},
	{"changed by a wrong clock", after(func(d *fixture, held jobs.ClaimedJob) { d.beatAhead(held, time.Hour) })},
	{"with an error of the attempt before", func(d *fixture, held jobs.ClaimedJob) jobs.ClaimedJob {
		d.finished(held, jobs.FinishIn{Action: jobs.Fail, Retryable: true, RetryAfter: ptr(int64(0)), Error: js(`{"code":"x"}`)})
		return d.claim(held.Job.Kind)
	}},
	{"to be cancelled", after(func(d *fixture, held jobs.ClaimedJob) { _, _ = d.cancel(held.Job.ID) })},
	{"asked for again", after((*fixture).again)},
	{"asked for again after a cancel", after(func(d *fixture, held jobs.ClaimedJob) {
		_, _ = d.cancel(held.Job.ID)
		d.again(held)
	})},
	{"completed", after(func(d *fixture, held jobs.ClaimedJob) { d.finished(held, jobs.FinishIn{Action: jobs.Complete}) })},
	{"failed", after(func(d *fixture, held jobs.ClaimedJob) { d.finished(held, jobs.FinishIn{Action: jobs.Fail}) })},
	{"snoozed", after(func(d *fixture, held jobs.ClaimedJob) {
		d.finished(held, jobs.FinishIn{Action: jobs.Snooze, Seconds: 9})
	})},
	{"held by the next", after(func(d *fixture, held jobs.ClaimedJob) {
		d.finished(held, jobs.FinishIn{Action: jobs.Release})
		d.claim(held.Job.Kind)
	})},
}

// after is a past whose token is that of the first claim.
func after(fn func(*fixture, jobs.ClaimedJob)) func(*fixture, jobs.ClaimedJob) jobs.ClaimedJob {
	return func(d *fixture, held jobs.ClaimedJob) jobs.ClaimedJob {
		fn(d, held)
		return held
	}
}

// again enqueues the key of a held job once more.
func (d *fixture) again(held jobs.ClaimedJob) {
	d.enqueue(jobs.EnqueueIn{Kind: held.Job.Kind, Key: held.Job.Key, Payload: js(`{"again":1}`)})
}

// place is one job of a batch; two owners have the same at each place.
type place struct {
	kind, key string
	past      past
}

// plant makes the job of a place for an owner.
func (p place) plant(d *fixture) jobs.ClaimedJob {
	d.enqueue(jobs.EnqueueIn{Kind: p.kind, Key: &p.key, Payload: js(`{"n":1.0}`)})
	return p.past.fn(d, d.claim(p.kind))
}

// item is one item of a batch: which job under which token.
type item struct {
	place  int // -1: an id that is not there; -2: one of another owner
	other  int // whose token, -1: nobody's
	result coltype.JSON
	remark string
}

func (i item) of(held []jobs.ClaimedJob, foreign jobs.ClaimedJob) jobs.Completion {
	out := jobs.Completion{ID: "job_unknown", LeaseToken: "nobody's", Result: i.result, Warning: i.remark}
	switch {
	case i.place >= 0:
		out.ID = held[i.place].Job.ID
	case i.place == -2:
		out.ID, out.LeaseToken = foreign.Job.ID, *foreign.Job.LeaseToken
	}
	if i.other >= 0 {
		out.LeaseToken = *held[i.other].Job.LeaseToken
	}
	return out
}

// newPlace has a kind and a key that no other place has.
func newPlace(batch, i int, p past) place {
	return place{kind: fmt.Sprintf("k%d-%d", batch, i), key: fmt.Sprintf("key%d-%d", batch, i), past: p}
}

func drawPlaces(t *rapid.T, batch int) []place {
	out := make([]place, rapid.IntRange(1, 6).Draw(t, "jobs"))
	for i := range out {
		out[i] = newPlace(batch, i, pasts[rapid.IntRange(0, len(pasts)-1).Draw(t, "past")])
	}
	return out
}

// drawItems names most jobs under their tokens, and some twice.
func drawItems(t *rapid.T, places int) []item {
	out := make([]item, rapid.IntRange(1, 2*places).Draw(t, "items"))
	for i := range out {
		at := rapid.IntRange(-2, places-1).Draw(t, "place")
		out[i] = item{place: at, other: max(at, -1)}
		if rapid.IntRange(0, 5).Draw(t, "stale") == 0 {
			out[i].other = rapid.IntRange(-1, places-1).Draw(t, "token")
		}
		out[i].result = rapid.SampledFrom([]coltype.JSON{nil, js(`null`), js(`{"b":1,"a":1.50,"é":"\u00e9\\ \"<&>"}`), js(`7`)}).Draw(t, "result")
		out[i].remark = rapid.SampledFrom([]string{"", "slow \"€\" <\u2028>"}).Draw(t, "warning")
	}
	return out
}

// told is an answer without what is its owner's alone.
type told struct {
	Job   model.Job
	Run   runs.Run
	Which int // of the job's runs
	Code  string
	State any
}

func (d *fixture) told(out jobs.Outcome, f *fault.Fault) told {
	if f != nil {
		return told{Code: f.Code, State: f.Members["state"]}
	}
	t := told{Job: plain(out.Job), Run: plainRun(out.Run), Which: -1}
	for i, r := range d.runs(out.Job.ID) {
		if r.ID == out.Run.ID {
			t.Which = i
		}
	}
	return t
}

// plain is a job without ids, and with no more of its lease than that there is one.
func plain(j model.Job) model.Job {
	j.ID, j.OwnerID = "", ""
	for _, id := range []**string{&j.LeaseToken, &j.Follows, &j.FollowedBy} {
		if *id != nil {
			*id = ptr("one")
		}
	}
	return j
}

func plainRun(r runs.Run) runs.Run {
	r.ID, r.OwnerID, r.JobID = "", "", nil
	return r
}

// rows are a job, its successor if it has one, and the runs of both.
func (d *fixture) rows(id string) (out []any) {
	job := d.job(id)
	out = append(out, plain(job))
	for _, r := range d.runs(id) {
		out = append(out, plainRun(r))
	}
	if job.FollowedBy != nil {
		out = append(out, d.rows(*job.FollowedBy)...)
	}
	return out
}

// twins are two owners who have the same jobs: one ends them in a batch, the other
// one by one.
type twins struct {
	batch, single *fixture
	foreign       jobs.ClaimedJob // of somebody else
}

// reporter is what tests and properties have in common.
type reporter interface {
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// compare ends jobs in both ways, and compares the answers and the rows.
func (w twins) compare(t reporter, places []place, items []item, wait time.Duration) {
	var mine, others []jobs.ClaimedJob
	for _, p := range places {
		mine, others = append(mine, p.plant(w.batch)), append(others, p.plant(w.single))
	}
	w.batch.Pass(wait)
	w.single.Now = w.batch.Now
	var together []jobs.Completion
	for _, i := range items {
		together = append(together, i.of(mine, w.foreign))
	}
	for k, got := range w.batch.complete(together...) {
		one := items[k].of(others, w.foreign)
		out, err := w.single.finish(jobs.ClaimedJob{Job: model.Job{ID: one.ID}},
			jobs.FinishIn{LeaseToken: one.LeaseToken, Action: jobs.Complete, Result: one.Result, Warning: one.Warning})
		var f *fault.Fault
		if err != nil && !errors.As(err, &f) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w.single.told(out, f), w.batch.told(got.Outcome, got.Fault)); diff != "" {
			t.Errorf("item %d of %+v (-single +batch)\n%s", k, items, diff)
		}
	}
	for i, p := range places {
		if diff := cmp.Diff(w.single.rows(others[i].Job.ID), w.batch.rows(mine[i].Job.ID)); diff != "" {
			t.Errorf("%s (-single +batch)\n%s", p.past.name, diff)
		}
	}
}

func TestBatchAnswersAndWritesAsSingleFinishesDo(t *testing.T) {
	each(t, func(d *fixture) {
		w := twins{d, newFixture(d.T, d.Store), newFixture(d.T, d.Store).held(jobs.EnqueueIn{})}
		var all []place
		items := []item{{place: -1, other: -1}, {place: -2, other: -1}}
		for i, p := range pasts {
			all = append(all, newPlace(0, i, p))
			items = append(items, item{i, i, js(`1`), "first"}, item{i, i, js(`2`), "second"}, item{i, -1, nil, ""})
		}
		w.compare(d, all, items, time.Second)
		batch := 0
		rapid.Check(d.T, func(t *rapid.T) {
			batch++
			places := drawPlaces(t, batch)
			wait := rapid.SampledFrom([]int{1, 120}).Draw(t, "wait") // a lease is a minute
			w.compare(t, places, drawItems(t, len(places)), time.Duration(wait)*time.Second)
		})
	})
}

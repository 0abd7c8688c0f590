package jobs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/server/jobs"
)

func TestCancelEndsAPendingJob(t *testing.T) {
	each(t, func(d *fixture) {
		before := d.enqueue(jobs.EnqueueIn{Key: ptr("k")}).Job
		d.Pass(time.Second)
		got, err := d.cancel(before.ID)
		want := before
		want.State, want.Actor, want.ActedAt, want.UpdatedAt, want.FinishedAt = jobs.Cancelled, ptr("ada"), d.Now, d.Now, d.Now
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			d.Errorf("%v (-want +got)\n%s", err, diff)
		}
		d.Pass(time.Second)
		if again, err := d.cancel(before.ID); err != nil || !cmp.Equal(want, again) {
			d.Errorf("cancelling twice: %v\n%s", err, cmp.Diff(want, again))
		}
		if n := len(d.runs(before.ID)); n != 0 {
			d.Errorf("%d runs of a job that nobody claimed", n)
		}
		if d.enqueue(jobs.EnqueueIn{Key: ptr("k")}).Deduplicated {
			d.Error("a cancelled job still holds the key")
		}
	})
}

func TestCancelAsksTheHolderOfAClaimedJob(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		d.Pass(time.Second)
		got, err := d.cancel(held.Job.ID)
		want := held.Job
		want.CancelRequestedAt, want.Actor, want.ActedAt, want.UpdatedAt = d.Now, ptr("ada"), d.Now, d.Now
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			d.Errorf("%v (-want +got)\n%s", err, diff)
		}
		d.Pass(time.Second)
		if again, err := d.cancel(held.Job.ID); err != nil || !cmp.Equal(want, again) {
			d.Errorf("asking twice: %v\n%s", err, cmp.Diff(want, again))
		}
	})
}

func TestCancelAndRetryAreRefusedWhereTheStateForbidsThem(t *testing.T) {
	each(t, func(d *fixture) {
		for _, tt := range []struct {
			state         string
			in            *jobs.FinishIn
			cancel, retry bool
		}{
			{jobs.Pending, nil, true, false},
			{jobs.Claimed, nil, true, false},
			{jobs.Succeeded, &jobs.FinishIn{Action: jobs.Complete}, false, false},
			{jobs.Failed, &jobs.FinishIn{Action: jobs.Fail}, false, true},
		} {
			id := d.enqueue(jobs.EnqueueIn{}).Job.ID
			if tt.state != jobs.Pending {
				held := d.claim()
				if tt.in != nil {
					d.finished(held, *tt.in)
				}
			}
			before := d.state(id, tt.state)
			if !tt.retry {
				_, err := d.retry(id)
				d.faulted(err, "state_conflict", tt.state)
			}
			if !tt.cancel {
				_, err := d.cancel(id)
				d.faulted(err, "state_conflict", tt.state)
			}
			if diff := cmp.Diff(before, d.job(id)); diff != "" {
				d.Errorf("%s (-before +after)\n%s", tt.state, diff)
			}
			if tt.cancel {
				if _, err := d.cancel(id); err != nil {
					d.Errorf("cancel of a %s job: %v", tt.state, err)
				}
			}
		}
		_, err := d.cancel("job_unknown")
		d.faulted(err, "not_found", "")
		_, err = d.retry("job_unknown")
		d.faulted(err, "not_found", "")
	})
}

func TestRetryStartsAnEndedJobAnew(t *testing.T) {
	each(t, func(d *fixture) {
		failed := d.held(jobs.EnqueueIn{Key: ptr("a"), Payload: js(`{"v":1}`)})
		if _, err := d.beat(failed, jobs.HeartbeatIn{Progress: js(`1`)}); err != nil {
			d.Fatal(err)
		}
		d.finished(failed, jobs.FinishIn{Action: jobs.Fail, Error: js(`{"code":"x"}`)})
		cancelled := d.held(jobs.EnqueueIn{Key: ptr("b"), Payload: js(`{"v":1}`)})
		if _, err := d.cancel(cancelled.Job.ID); err != nil {
			d.Fatal(err)
		}
		d.finished(cancelled, jobs.FinishIn{Action: jobs.Release})
		d.Pass(time.Hour)
		for _, id := range []string{failed.Job.ID, cancelled.Job.ID} {
			want := d.job(id)
			want.State, want.Attempt, want.RunAt = jobs.Pending, 0, d.Now
			want.Result, want.Error, want.Progress = nil, nil, nil
			want.CancelRequestedAt, want.FinishedAt = d.zero(), d.zero()
			want.Actor, want.ActedAt, want.UpdatedAt = ptr("ada"), d.Now, d.Now
			got, err := d.retry(id)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				d.Errorf("%v (-want +got)\n%s", err, diff)
			}
			held := d.claim()
			if held.Job.ID != id || held.Job.Attempt != 1 {
				d.Errorf("claimed %s in attempt %d", held.Job.ID, held.Job.Attempt)
			}
			d.finished(held, jobs.FinishIn{Action: jobs.Complete})
		}
	})
}

func TestRetryLetsAJobInBackoffRunAtOnce(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		before := d.finished(held, jobs.FinishIn{Action: jobs.Fail, Retryable: true, Error: js(`{"code":"x"}`)}).Job
		d.Pass(time.Second)
		got, err := d.retry(held.Job.ID)
		want := before
		want.RunAt, want.Actor, want.ActedAt, want.UpdatedAt = d.Now, ptr("ada"), d.Now, d.Now
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			d.Errorf("%v (-want +got)\n%s", err, diff)
		}
		_, err = d.retry(held.Job.ID)
		d.faulted(err, "state_conflict", jobs.Pending)
	})
}

// ENQ-01: a job does not come back to life beside a newer one of its key.
func TestRetryOfAKeyThatIsLiveIsKeyInUse(t *testing.T) {
	each(t, func(d *fixture) {
		old := d.held(jobs.EnqueueIn{Key: ptr("k")})
		d.finished(old, jobs.FinishIn{Action: jobs.Fail})
		newer := d.enqueue(jobs.EnqueueIn{Key: ptr("k")}).Job
		for _, state := range []string{jobs.Pending, jobs.Claimed} {
			_, err := d.retry(old.Job.ID)
			d.faulted(err, "key_in_use", state)
			if state == jobs.Pending {
				d.claim()
			}
		}
		d.state(old.Job.ID, jobs.Failed)
		d.state(newer.ID, jobs.Claimed)
	})
}

func TestRetriedJobForgetsAnOlderCancelRequest(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		_, _ = d.cancel(held.Job.ID)
		d.finished(held, jobs.FinishIn{Action: jobs.Release})
		if _, err := d.retry(held.Job.ID); err != nil {
			d.Fatal(err)
		}
		again := d.claim()
		if beat, err := d.beat(again, jobs.HeartbeatIn{}); err != nil || beat.Directive != "continue" {
			d.Errorf("the new holder hears %q, %v", beat.Directive, err)
		}
		if out := d.finished(again, jobs.FinishIn{Action: jobs.Release}); out.Job.State != jobs.Pending {
			d.Errorf("%s after a release", out.Job.State)
		}
	})
}

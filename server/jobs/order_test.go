package jobs_test

import (
	"testing"
	"time"

	"github.com/stint-run/stint/server/jobs"
)

func TestTheLinkToASuccessorOutlivesARetryByHand(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Key: ptr("k")})
		d.enqueue(jobs.EnqueueIn{Key: ptr("k")})
		next := d.followed(d.finished(held, jobs.FinishIn{Action: jobs.Fail}).Job).ID
		if _, err := d.cancel(next); err != nil {
			d.Fatal(err)
		}
		if _, err := d.retry(held.Job.ID); err != nil {
			d.Fatal(err)
		}
		done := d.finished(d.claim(), jobs.FinishIn{Action: jobs.Complete}).Job
		if done.ID != held.Job.ID || text(done.FollowedBy) != next {
			d.Errorf("%s is followed by %s, want %s", done.ID, text(done.FollowedBy), next)
		}
	})
}

// The clock is read before the wait for a row, whose holder may have read it later.
func TestTimesOfAJobNeverRunBackwards(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		d.Pass(-time.Second)
		out := d.finished(held, jobs.FinishIn{Action: jobs.Complete})
		if out.Job.UpdatedAt.Before(held.Job.UpdatedAt) || out.Run.CompletedAt.Before(out.Run.StartedAt) {
			d.Errorf("updated %s after %s, completed %s after %s", out.Job.UpdatedAt, held.Job.UpdatedAt, out.Run.CompletedAt, out.Run.StartedAt)
		}
		waiting := d.enqueue(jobs.EnqueueIn{Key: ptr("k")}).Job
		d.Pass(-time.Second)
		again := d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`1`)}).Job
		ended, err := d.cancel(waiting.ID)
		if err != nil {
			d.Fatal(err)
		}
		if again.UpdatedAt.Before(waiting.UpdatedAt) || ended.FinishedAt.Before(again.UpdatedAt) {
			d.Errorf("made %s, replaced %s, cancelled %s", waiting.UpdatedAt, again.UpdatedAt, ended.FinishedAt)
		}
	})
}

package jobs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/jobs"
)

func TestDuplicateOfAPendingJobReplacesOnlyTheMembersItHas(t *testing.T) {
	each(t, func(d *fixture) {
		later := d.Now.Add(time.Hour)
		first := d.enqueue(jobs.EnqueueIn{
			Key: ptr("k"), Payload: js(`{"v":1}`), Priority: ptr(int64(2)), RunAt: later,
			MaxAttempts: ptr(int64(4)), Traceparent: ptr("00-a"),
		}).Job
		for _, tt := range []struct {
			name   string
			in     jobs.EnqueueIn
			change func(*model.Job)
		}{
			{"nothing", jobs.EnqueueIn{}, func(*model.Job) {}},
			{"payload", jobs.EnqueueIn{Payload: js(`null`)}, func(j *model.Job) { j.Payload = js(`null`) }},
			{"priority", jobs.EnqueueIn{Priority: ptr(int64(4))}, func(j *model.Job) { j.Priority = 4 }},
			{"max_attempts", jobs.EnqueueIn{MaxAttempts: ptr(int64(9))}, func(j *model.Job) { j.MaxAttempts = 9 }},
			{"traceparent", jobs.EnqueueIn{Traceparent: ptr("00-b")}, func(j *model.Job) { j.Traceparent = ptr("00-b") }},
			{"run_at later", jobs.EnqueueIn{RunAt: later.Add(time.Hour)}, func(j *model.Job) { j.RunAt = later.Add(time.Hour) }},
			{"run_at in the past", jobs.EnqueueIn{RunAt: d.Now.Add(-time.Hour)}, func(j *model.Job) { j.RunAt = d.Now }},
		} {
			want := d.job(first.ID)
			tt.change(&want)
			tt.in.Key = ptr("k")
			got := d.enqueue(tt.in)
			if diff := cmp.Diff(want, got.Job); diff != "" || !got.Deduplicated || got.Again {
				d.Errorf("%s: deduplicated %v, again %v, job (-want +got)\n%s", tt.name, got.Deduplicated, got.Again, diff)
			}
		}
	})
}

func TestKeepChangesNothing(t *testing.T) {
	each(t, func(d *fixture) {
		full := jobs.EnqueueIn{Key: ptr("k"), Payload: js(`2`), Priority: ptr(int64(1)), RunAt: d.Now.Add(time.Hour), Keep: true}
		d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`1`)})
		for _, state := range []string{jobs.Pending, jobs.Claimed} {
			d.Pass(time.Second)
			before := d.list(jobs.ListIn{})
			got := d.enqueue(full)
			if diff := cmp.Diff(before[0], got.Job); diff != "" || !got.Deduplicated || got.Again {
				d.Errorf("%s: deduplicated %v, again %v (-before +after)\n%s", state, got.Deduplicated, got.Again, diff)
			}
			if diff := cmp.Diff(before, d.list(jobs.ListIn{})); diff != "" {
				d.Errorf("%s (-before +after)\n%s", state, diff)
			}
			if state == jobs.Pending {
				d.claim()
			}
		}
	})
}

// A poller that enqueues again can neither push work back nor hammer a failing
// job.
func TestDuplicateOfAJobInBackoffMovesItOnlyByAnExplicitRunAt(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Key: ptr("k")})
		failed := d.finished(held, jobs.FinishIn{Action: jobs.Fail, Retryable: true, Error: js(`{"code":"x"}`)}).Job
		d.Pass(time.Second)
		same := d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`2`)}).Job
		if !same.RunAt.Equal(failed.RunAt) || same.Attempt != 1 || string(same.Payload) != "2" {
			d.Errorf("run_at %s, attempt %d, payload %s", same.RunAt, same.Attempt, same.Payload)
		}
		moved := d.enqueue(jobs.EnqueueIn{Key: ptr("k"), RunAt: d.Now}).Job
		if !moved.RunAt.Equal(d.Now) || moved.Attempt != 1 {
			d.Errorf("moved to %s, attempt %d", moved.RunAt, moved.Attempt)
		}
	})
}

func TestReplacedMaxAttemptsLeaveTheAttemptThatIsDue(t *testing.T) {
	each(t, func(d *fixture) {
		for range 3 {
			d.enqueue(jobs.EnqueueIn{Key: ptr("k")})
			d.finished(d.claim(), jobs.FinishIn{Action: jobs.Fail, Retryable: true, RetryAfter: ptr(int64(0))})
		}
		if got := d.enqueue(jobs.EnqueueIn{Key: ptr("k"), MaxAttempts: ptr(int64(1))}).Job; got.MaxAttempts != 4 {
			d.Errorf("max_attempts %d at attempt %d, want 4", got.MaxAttempts, got.Attempt)
		}
	})
}

func TestSameKeyOfAnotherKindIsInUseWhileLive(t *testing.T) {
	each(t, func(d *fixture) {
		var held jobs.ClaimedJob
		d.enqueue(jobs.EnqueueIn{Key: ptr("k")})
		for _, state := range []string{jobs.Pending, jobs.Claimed} {
			for _, keep := range []bool{false, true} {
				out, err := d.tryEnqueue(jobs.EnqueueIn{Kind: "other", Key: ptr("k"), Keep: keep})
				if err != nil {
					d.Fatal(err)
				}
				d.faulted(out[0].Err, "key_in_use", state)
			}
			if state == jobs.Pending {
				held = d.claim()
			}
		}
		d.finished(held, jobs.FinishIn{Action: jobs.Complete})
		if got := d.enqueue(jobs.EnqueueIn{Kind: "other", Key: ptr("k")}); got.Deduplicated {
			d.Error("an ended job still holds the key")
		}
	})
}

// ENQ-02: what was asked while the job ran is not swallowed.
func TestDuplicateOfAClaimedJobFollowsItsEnd(t *testing.T) {
	each(t, func(d *fixture) {
		for _, in := range []jobs.FinishIn{{Action: jobs.Complete, Result: js(`1`)}, {Action: jobs.Fail}} {
			held := d.held(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`{"v":1}`), Priority: ptr(int64(2))})
			got := d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`{"v":2}`)})
			if !got.Again || !got.Deduplicated || got.Job.ID != held.Job.ID {
				d.Errorf("again %v, deduplicated %v", got.Again, got.Deduplicated)
			}
			if now := d.state(held.Job.ID, jobs.Claimed); string(now.Payload) != `{"v":1}` {
				d.Errorf("the holder's payload became %s", now.Payload)
			}
			d.Pass(time.Second)
			ended := d.finished(held, in).Job
			next := d.followed(ended)
			want := model.Job{
				ID: next.ID, OwnerID: d.Owner, Kind: "build", State: jobs.Pending, Key: ptr("k"),
				Payload: js(`{"v":2}`), Priority: 2, RunAt: d.Now, MaxAttempts: 5, Follows: &ended.ID,
				CreatedAt: d.Now, UpdatedAt: d.Now,
			}
			if diff := cmp.Diff(want, next); diff != "" || ended.Again != nil {
				d.Errorf("again %s, successor (-want +got)\n%s", ended.Again, diff)
			}
			d.finished(d.claim(), jobs.FinishIn{Action: jobs.Complete})
		}
	})
}

func TestOfSeveralAgainTheLastWinsAndTakesTheRestFromTheClaimedJob(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`0`), MaxAttempts: ptr(int64(3)), Traceparent: ptr("00-a")})
		d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`1`), Priority: ptr(int64(1)), Traceparent: ptr("00-b")})
		d.enqueue(jobs.EnqueueIn{Key: ptr("k"), RunAt: d.Now.Add(time.Hour), MaxAttempts: ptr(int64(8))})
		d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`9`), Keep: true})
		next := d.followed(d.finished(held, jobs.FinishIn{Action: jobs.Complete}).Job)
		if string(next.Payload) != "0" || next.Priority != 3 || text(next.Traceparent) != "00-a" {
			d.Errorf("payload %s, priority %d, traceparent %s", next.Payload, next.Priority, text(next.Traceparent))
		}
		if !next.RunAt.Equal(d.Now.Add(time.Hour)) || next.MaxAttempts != 8 {
			d.Errorf("run_at %s, max_attempts %d", next.RunAt, next.MaxAttempts)
		}
	})
}

func TestAgainReplacesTheMembersOfAJobThatReturnsToPending(t *testing.T) {
	each(t, func(d *fixture) {
		for name, in := range map[string]jobs.FinishIn{
			"fail":    {Action: jobs.Fail, Retryable: true},
			"snooze":  {Action: jobs.Snooze, Seconds: 5},
			"release": {Action: jobs.Release},
		} {
			held := d.held(jobs.EnqueueIn{Key: ptr(name), Payload: js(`1`)})
			d.enqueue(jobs.EnqueueIn{Key: ptr(name), Payload: js(`2`), RunAt: d.Now.Add(time.Minute)})
			back := d.finished(held, in).Job
			if string(back.Payload) != "2" || !back.RunAt.Equal(d.Now.Add(time.Minute)) || back.State != jobs.Pending {
				d.Errorf("%s: %s, payload %s, run_at %s", name, back.State, back.Payload, back.RunAt)
			}
			if back.Again != nil || back.FollowedBy != nil {
				d.Errorf("%s: again %s, followed by %s", name, back.Again, text(back.FollowedBy))
			}
		}
	})
}

func TestAgainThatIsTakenBackByTheReaperReplacesToo(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`1`)})
		d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`2`)})
		d.Pass(time.Hour)
		d.reap()
		if back := d.state(held.Job.ID, jobs.Pending); string(back.Payload) != "2" || !back.RunAt.Equal(d.Now) {
			d.Errorf("payload %s, run_at %s", back.Payload, back.RunAt)
		}
	})
}

func TestCancelDropsWhatWasAskedAgain(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Key: ptr("k")})
		d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`2`)})
		if job, err := d.cancel(held.Job.ID); err != nil || job.Again != nil {
			d.Errorf("again %s, %v", job.Again, err)
		}
		ended := d.finished(held, jobs.FinishIn{Action: jobs.Release}).Job
		if ended.State != jobs.Cancelled || ended.FollowedBy != nil {
			d.Errorf("%s, followed by %s", ended.State, text(ended.FollowedBy))
		}
		if n := len(d.list(jobs.ListIn{})); n != 1 {
			d.Errorf("%d jobs, want 1", n)
		}
	})
}

// A cancel drops what was asked before and after it; a holder that completes all
// the same is followed by what was asked after it.
func TestAgainAskedAfterTheCancelRequestFollowsASuccessAlone(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		for _, tt := range []struct {
			end   jobs.FinishIn
			state string
		}{
			{jobs.FinishIn{Action: jobs.Complete}, jobs.Succeeded},
			{jobs.FinishIn{Action: jobs.Fail, Error: js(`{"code":"x"}`)}, jobs.Cancelled},
			{jobs.FinishIn{Action: jobs.Release}, jobs.Cancelled},
			{jobs.FinishIn{Action: jobs.Snooze, Seconds: 9}, jobs.Cancelled},
			{jobs.FinishIn{}, jobs.Cancelled}, // the lease runs out
		} {
			key := ptr(tt.end.Action + "!")
			held := d.held(jobs.EnqueueIn{Key: key, Payload: js(`1`)})
			if _, err := d.cancel(held.Job.ID); err != nil {
				d.Fatal(err)
			}
			if met := d.enqueue(jobs.EnqueueIn{Key: key, Payload: js(`2`)}); !met.Again {
				d.Errorf("%s: not kept", tt.end.Action)
			}
			before := d.job(held.Job.ID)
			if twice, err := d.cancel(held.Job.ID); err != nil || !cmp.Equal(before, twice) {
				d.Errorf("cancelling twice: %v\n%s", err, cmp.Diff(before, twice))
			}
			if tt.end.Action == "" {
				d.Pass(2 * time.Minute)
				d.reap()
			} else {
				d.finished(held, tt.end)
			}
			ended := d.state(held.Job.ID, tt.state)
			if followed := ended.FollowedBy != nil; followed != (tt.state == jobs.Succeeded) || ended.Again != nil {
				d.Errorf("%s: followed by %s, again %s", tt.end.Action, text(ended.FollowedBy), ended.Again)
			}
			if next := d.list(jobs.ListIn{Key: *key, State: jobs.Pending}); len(next) == 1 {
				d.held(jobs.EnqueueIn{Key: key}) // out of the way of the next claim
			}
		}
	})
}

package jobs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/runs"
)

// actions end a claim in each way the holder can.
var actions = []jobs.FinishIn{
	{Action: jobs.Complete, Result: js(`{"ok":true}`)},
	{Action: jobs.Fail, Error: js(`{"code":"boom","message":"it broke"}`)},
	{Action: jobs.Fail, Error: js(`{"code":"boom"}`), Retryable: true},
	{Action: jobs.Snooze, Seconds: 30},
	{Action: jobs.Release},
}

func TestEachFinishWritesTheJobAndItsRunTogether(t *testing.T) {
	each(t, func(d *fixture) {
		wants := []struct {
			state, run, reason string
			attempt            int64
			wait               time.Duration
		}{
			{jobs.Succeeded, "succeeded", "(null)", 1, 0},
			{jobs.Failed, "failed", "(null)", 1, 0},
			{jobs.Pending, "failed", "(null)", 1, 5 * time.Second},
			{jobs.Pending, "cancelled", "snoozed", 0, 30 * time.Second},
			{jobs.Pending, "cancelled", "released", 0, 0},
		}
		for i, in := range actions {
			held := d.held(jobs.EnqueueIn{Priority: ptr(int64(1)), Payload: js(`{"i":1}`)})
			if _, err := d.beat(held, jobs.HeartbeatIn{Progress: js(`"half"`)}); err != nil {
				d.Fatal(err)
			}
			d.Pass(time.Second)
			out, want := d.finished(held, in), wants[i]
			job := out.Job
			if job.State != want.state || job.Attempt != want.attempt {
				d.Errorf("%s: %s, attempt %d; want %s, %d", in.Action, job.State, job.Attempt, want.state, want.attempt)
			}
			if job.LeaseToken != nil || job.ClaimedBy != nil || !job.LeaseExpiresAt.IsZero() {
				d.Errorf("%s: the lease is still there", in.Action)
			}
			if want.state == jobs.Pending && !job.RunAt.Equal(d.Now.Add(want.wait)) {
				d.Errorf("%s: runs at %s, want in %s", in.Action, job.RunAt, want.wait)
			}
			if diff := cmp.Diff(job, d.job(job.ID)); diff != "" {
				d.Errorf("%s (-answered +read)\n%s", in.Action, diff)
			}
			run := d.runs(job.ID)[0]
			run.JobState, run.JobProgress = nil, nil // an answer shows the run alone
			if diff := cmp.Diff(out.Run, run); diff != "" {
				d.Errorf("%s, run (-answered +read)\n%s", in.Action, diff)
			}
			if run.ID != held.RunID || run.Status != want.run || text(run.TerminalReason) != want.reason || !run.CompletedAt.Equal(d.Now) {
				d.Errorf("%s: run %s %s at %s", in.Action, run.Status, text(run.TerminalReason), run.CompletedAt)
			}
			if string(run.Progress) != `"half"` || string(run.Error) != string(in.Error) || string(job.Result) != string(in.Result) {
				d.Errorf("%s: run progress %s, error %s, result %s", in.Action, run.Progress, run.Error, job.Result)
			}
			if job.State == jobs.Pending {
				if _, err := d.cancel(job.ID); err != nil {
					d.Fatal(err)
				}
			}
		}
	})
}

// CLM-08, CLM-10: an answer is lost, the client repeats.
func TestSameActionAgainByItsHolderChangesNothing(t *testing.T) {
	each(t, func(d *fixture) {
		for _, in := range actions {
			held := d.held(jobs.EnqueueIn{Priority: ptr(int64(1))})
			first := d.finished(held, in)
			d.Pass(time.Second)
			again := in
			again.Result, again.Error, again.RetryAfter, again.Seconds = js(`"other"`), js(`{"code":"other"}`), ptr(int64(9)), 9
			second := d.finished(held, again)
			if diff := cmp.Diff(first, second); diff != "" {
				d.Errorf("%s again (-first +second)\n%s", in.Action, diff)
			}
			for _, other := range actions {
				if other.Action != in.Action {
					_, err := d.finish(held, other)
					d.faulted(err, "state_conflict", first.Job.State)
				}
			}
			if diff := cmp.Diff(first.Job, d.job(held.Job.ID)); diff != "" {
				d.Errorf("%s (-before +after)\n%s", in.Action, diff)
			}
			if first.Job.State == jobs.Pending {
				_, _ = d.cancel(held.Job.ID)
			}
		}
	})
}

func TestRepeatedActionAnswersWithTheJobAsItStandsNow(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		d.finished(held, jobs.FinishIn{Action: jobs.Release})
		now := d.claim()
		out := d.finished(held, jobs.FinishIn{Action: jobs.Release})
		if out.Job.State != jobs.Claimed || text(out.Job.LeaseToken) != text(now.Job.LeaseToken) || out.Run.ID != held.RunID {
			d.Errorf("answered %s with run %s", out.Job.State, out.Run.ID)
		}
		_, err := d.finish(held, jobs.FinishIn{Action: jobs.Complete})
		d.faulted(err, "state_conflict", jobs.Claimed)
	})
}

// CLM-03: a worker that lost its lease changes nothing, whatever it reports.
func TestStaleTokenIsLeaseLostAndTheRowStays(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		stale := d.held(jobs.EnqueueIn{})
		d.Pass(66 * time.Second)
		if n := d.reap(); n != 1 {
			d.Fatalf("reaped %d", n)
		}
		refused := func(state string) {
			d.Helper()
			before := d.job(stale.Job.ID)
			for _, in := range actions {
				_, err := d.finish(stale, in)
				d.faulted(err, "lease_lost", state)
			}
			_, err := d.beat(stale, jobs.HeartbeatIn{Progress: js(`1`)})
			d.faulted(err, "lease_lost", state)
			if diff := cmp.Diff(before, d.job(stale.Job.ID)); diff != "" {
				d.Errorf("%s (-before +after)\n%s", state, diff)
			}
		}
		refused(jobs.Pending)
		second := d.claim()
		refused(jobs.Claimed)
		d.finished(second, jobs.FinishIn{Action: jobs.Complete})
		refused(jobs.Succeeded)
		var statuses []string
		for _, r := range d.runs(stale.Job.ID) {
			statuses = append(statuses, r.Status)
		}
		if diff := cmp.Diff([]string{"succeeded", "abandoned"}, statuses); diff != "" {
			d.Errorf("runs (-want +got)\n%s", diff)
		}
	})
}

// CLM-10: a lease is renewed by its own token only.
func TestTokenOfAnotherJobOrOfNobodyIsLeaseLost(t *testing.T) {
	each(t, func(d *fixture) {
		mine, other := d.held(jobs.EnqueueIn{}), d.held(jobs.EnqueueIn{})
		for _, token := range []string{*other.Job.LeaseToken, "made up", "%", " " + *mine.Job.LeaseToken} {
			before := d.job(mine.Job.ID)
			d.Pass(time.Second)
			_, err := d.beat(mine, jobs.HeartbeatIn{LeaseToken: token})
			d.faulted(err, "lease_lost", jobs.Claimed)
			for _, in := range actions {
				in.LeaseToken = token
				_, err = d.finish(mine, in)
				d.faulted(err, "lease_lost", jobs.Claimed)
			}
			if diff := cmp.Diff(before, d.job(mine.Job.ID)); diff != "" {
				d.Errorf("%q (-before +after)\n%s", token, diff)
			}
		}
		ghost := mine
		ghost.Job.ID = "job_unknown"
		_, err := d.beat(ghost, jobs.HeartbeatIn{})
		d.faulted(err, "not_found", "")
		_, err = d.finish(ghost, jobs.FinishIn{Action: jobs.Complete})
		d.faulted(err, "not_found", "")
	})
}

func TestExpiredLeaseThatWasNotTakenBackStillCounts(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		renewed, ended := d.held(jobs.EnqueueIn{}), d.held(jobs.EnqueueIn{})
		d.Pass(time.Hour)
		beat, err := d.beat(renewed, jobs.HeartbeatIn{})
		if err != nil || !beat.LeaseExpiresAt.Equal(d.Now.Add(time.Minute)) {
			d.Errorf("renewed to %s, %v", beat.LeaseExpiresAt, err)
		}
		d.finished(ended, jobs.FinishIn{Action: jobs.Complete})
		if n := d.reap(); n != 0 {
			d.Errorf("reaped %d", n)
		}
	})
}

func TestHeartbeatExtendsTheLeaseAndKeepsTheLastProgress(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		for _, tt := range []struct {
			in       jobs.HeartbeatIn
			lease    time.Duration
			progress string
		}{
			{jobs.HeartbeatIn{}, time.Minute, ""},
			{jobs.HeartbeatIn{Progress: js(`{"done":1}`)}, time.Minute, `{"done":1}`},
			{jobs.HeartbeatIn{LeaseSeconds: ptr(int64(600))}, 10 * time.Minute, `{"done":1}`},
			{jobs.HeartbeatIn{LeaseSeconds: ptr(int64(10)), Progress: js(`null`)}, 10 * time.Second, `null`},
		} {
			d.Pass(time.Second)
			beat, err := d.beat(held, tt.in)
			want := jobs.Beat{Worker: "w1", LeaseExpiresAt: d.Now.Add(tt.lease), Directive: "continue"}
			if diff := cmp.Diff(want, beat); diff != "" || err != nil {
				d.Errorf("%v (-want +got)\n%s", err, diff)
			}
			job := d.job(held.Job.ID)
			if !job.LeaseExpiresAt.Equal(beat.LeaseExpiresAt) || string(job.Progress) != tt.progress || !job.UpdatedAt.Equal(d.Now) {
				d.Errorf("lease %s, progress %s, updated %s", job.LeaseExpiresAt, job.Progress, job.UpdatedAt)
			}
		}
	})
}

// A heartbeat that names no lease never takes time away; one that does sets it
// from now.
func TestHeartbeatWithoutLeaseSecondsNeverShortensTheLease(t *testing.T) {
	each(t, func(d *fixture) {
		d.enqueue(jobs.EnqueueIn{})
		held := d.claimIn(jobs.ClaimIn{LeaseSeconds: ptr(int64(600))})[0]
		for _, tt := range []struct {
			after time.Duration
			in    *int64
			want  time.Duration
		}{
			{time.Second, nil, 600*time.Second - time.Second},
			{538 * time.Second, nil, 61 * time.Second},
			{2 * time.Second, nil, time.Minute},
			{time.Second, ptr(int64(10)), 10 * time.Second},
			{time.Minute, nil, time.Minute}, // ran out, not yet taken back
		} {
			d.Pass(tt.after)
			beat, err := d.beat(held, jobs.HeartbeatIn{LeaseSeconds: tt.in})
			if left := beat.LeaseExpiresAt.Sub(d.Now); left != tt.want || err != nil {
				d.Errorf("after %s: %s left, want %s, %v", tt.after, left, tt.want, err)
			}
		}
	})
}

func TestFailWaitsForTheBackoffOfItsKindUntilAttemptsRunOut(t *testing.T) {
	each(t, func(d *fixture) {
		d.putKind(jobs.KindIn{Name: "build", LeaseSeconds: 60, MaxAttempts: 4, BackoffBaseSeconds: 10, BackoffCapSeconds: 25})
		id := d.enqueue(jobs.EnqueueIn{}).Job.ID
		for attempt, wait := range []time.Duration{8 * time.Second, 24 * time.Second, 25 * time.Second} {
			out := d.finished(d.claim(), jobs.FinishIn{Action: jobs.Fail, Retryable: true, Error: js(`{"code":"x"}`), Jitter: []float64{0.8, 1.2, 1}[attempt]})
			if !out.Job.RunAt.Equal(d.Now.Add(wait)) || out.Job.Attempt != int64(attempt+1) {
				d.Errorf("attempt %d waits %s, want %s", out.Job.Attempt, out.Job.RunAt.Sub(d.Now), wait)
			}
			d.Pass(wait)
		}
		out := d.finished(d.claim(), jobs.FinishIn{Action: jobs.Fail, Retryable: true, Error: js(`{"code":"last"}`)})
		if job := d.state(id, jobs.Failed); out.Job.Attempt != 4 || string(job.Error) != `{"code":"last"}` {
			d.Errorf("attempt %d, error %s", job.Attempt, job.Error)
		}
		if runs := d.runs(id); len(runs) != 4 {
			d.Errorf("%d runs, want one per attempt", len(runs))
		}
	})
}

func TestRetryAfterReplacesTheBackoff(t *testing.T) {
	each(t, func(d *fixture) {
		for _, s := range []int64{0, 1, 2_592_000} {
			held := d.held(jobs.EnqueueIn{Priority: ptr(int64(1))})
			out := d.finished(held, jobs.FinishIn{Action: jobs.Fail, Retryable: true, RetryAfter: &s})
			if want := d.Now.Add(time.Duration(s) * time.Second); !out.Job.RunAt.Equal(want) {
				d.Errorf("retry_after_seconds %d: runs at %s", s, out.Job.RunAt)
			}
			_, _ = d.cancel(out.Job.ID)
		}
	})
}

func TestSnoozeAndReleaseNeverUseAnAttemptUp(t *testing.T) {
	each(t, func(d *fixture) {
		id := d.enqueue(jobs.EnqueueIn{MaxAttempts: ptr(int64(1))}).Job.ID
		for i := range 6 {
			in := jobs.FinishIn{Action: jobs.Release}
			if i%2 == 0 {
				in = jobs.FinishIn{Action: jobs.Snooze}
			}
			if out := d.finished(d.claim(), in); out.Job.Attempt != 0 || out.Job.State != jobs.Pending {
				d.Fatalf("%s, attempt %d", out.Job.State, out.Job.Attempt)
			}
		}
		d.finished(d.claim(), jobs.FinishIn{Action: jobs.Complete})
		for _, r := range d.runs(id) {
			if *r.Attempt != 1 {
				d.Errorf("run of attempt %d; runs of one job may share a number", *r.Attempt)
			}
		}
	})
}

func TestAfterACancelRequestOnlySuccessIsNotACancel(t *testing.T) {
	each(t, func(d *fixture) {
		ends := map[string]string{"succeeded": jobs.Succeeded, "failed": jobs.Cancelled, "cancelled": jobs.Cancelled}
		for _, in := range actions {
			held := d.held(jobs.EnqueueIn{})
			if _, err := d.cancel(held.Job.ID); err != nil {
				d.Fatal(err)
			}
			if beat, err := d.beat(held, jobs.HeartbeatIn{}); err != nil || beat.Directive != "cancel" {
				d.Errorf("the holder hears %q, %v", beat.Directive, err)
			}
			out := d.finished(held, in)
			if want := ends[out.Run.Status]; out.Job.State != want || !out.Job.FinishedAt.Equal(d.Now) {
				d.Errorf("%s: %s, want %s", in.Action, out.Job.State, want)
			}
		}
	})
}

// CLM-17: a claim is whole or it is not there.
func TestHalfLockedRowsCannotBeWritten(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		d.held(jobs.EnqueueIn{})
		for _, set := range []string{
			"claimed_by = null", "lease_token = null", "lease_expires_at = null",
			"state = 'pending'", "state = 'succeeded'", "state = 'succeeded', finished_at = updated_at",
			"state = 'pending', lease_token = null, lease_expires_at = null", "finished_at = updated_at",
		} {
			if _, err := dbtest.DB(d.T, d.Store).ExecContext(d.Context(), "update jobs set "+set); err == nil {
				d.Errorf("set %s was taken", set)
			}
		}
		if n := dbtest.Get[int](d.T, d.Store, "select count(*) from runs where status = 'running'"); n != 1 {
			d.Errorf("%d running runs", n)
		}
	})
}

func TestShownStatusFollowsTheLease(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		shown := func(want string) {
			d.Helper()
			if got := runs.Shown(d.runs(held.Job.ID)[0], d.Now); got != want {
				d.Errorf("shown as %s, want %s", got, want)
			}
		}
		shown(runs.InProgress)
		d.Pass(time.Minute + runs.Grace)
		shown(runs.InProgress)
		d.Pass(time.Microsecond)
		shown(runs.Failed)
		d.reap()
		shown(runs.Abandoned)
	})
}

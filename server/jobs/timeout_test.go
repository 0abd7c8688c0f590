package jobs_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/runs"
)

// limited sets a kind: a lease of 60 s, a backoff from 5 s, and that time limit.
func (d *fixture) limited(name string, timeout *int64) {
	d.Helper()
	d.putKind(jobs.KindIn{Name: name, LeaseSeconds: 60, MaxAttempts: 5, BackoffBaseSeconds: 5, BackoffCapSeconds: 3600, Timeout: timeout})
}

// deadline checks that of a job's newest run: so long after now, 0 for none.
func (d *fixture) deadline(id string, want time.Duration) {
	d.Helper()
	got := d.runs(id)[0].DeadlineAt
	if got.IsZero() != (want == 0) || want > 0 && !got.Equal(d.Now.Add(want)) {
		d.Errorf("the deadline is %s, want %s after %s", got, want, d.Now)
	}
}

func TestSmallestTimeLimitOfKindJobAndClaimCounts(t *testing.T) {
	each(t, func(d *fixture) {
		for _, tt := range []struct {
			kind, job, claim, lease int64 // 0: absent
			want, wantLease         time.Duration
		}{
			{0, 0, 0, 0, 0, time.Minute},
			{90, 0, 0, 0, 90 * time.Second, time.Minute},
			{0, 30, 0, 0, 30 * time.Second, 30 * time.Second},
			{0, 0, 1, 0, time.Second, time.Second},
			{50, 40, 45, 0, 40 * time.Second, 40 * time.Second},
			{40, 50, 45, 0, 40 * time.Second, 40 * time.Second},
			{50, 45, 40, 86_400, 40 * time.Second, 40 * time.Second},
			{0, 604_800, 0, 86_400, 7 * 24 * time.Hour, 24 * time.Hour},
			{604_800, 70, 0, 86_400, 70 * time.Second, 70 * time.Second},
		} {
			orNil := func(n int64) *int64 {
				if n == 0 {
					return nil
				}
				return &n
			}
			d.limited("build", orNil(tt.kind))
			id := d.enqueue(jobs.EnqueueIn{Timeout: orNil(tt.job)}).Job.ID
			held := d.claimIn(jobs.ClaimIn{LeaseSeconds: orNil(tt.lease), Timeout: orNil(tt.claim)})[0]
			d.deadline(id, tt.want)
			if !held.DeadlineAt.Equal(d.runs(id)[0].DeadlineAt) {
				d.Errorf("%+v: the claim says %s", tt, held.DeadlineAt)
			}
			if got := held.Job.LeaseExpiresAt.Sub(d.Now); got != tt.wantLease {
				d.Errorf("%+v: a lease of %s", tt, got)
			}
			if run := d.finished(held, jobs.FinishIn{Action: jobs.Complete}).Run; !run.DeadlineAt.Equal(held.DeadlineAt) {
				d.Errorf("%+v: the finish says %s", tt, run.DeadlineAt)
			}
		}
	})
}

func TestOneClaimHoldsTheJobsOfEachKindToItsOwnTimeLimit(t *testing.T) {
	each(t, func(d *fixture) {
		d.limited("short", ptr(int64(20)))
		d.limited("long", ptr(int64(90)))
		d.limited("free", nil)
		want := map[string][2]time.Duration{ // deadline and lease
			"short": {20 * time.Second, 20 * time.Second}, "long": {90 * time.Second, time.Minute}, "free": {0, time.Minute},
		}
		for kind := range want {
			d.enqueue(jobs.EnqueueIn{Kind: kind})
		}
		got := d.claimIn(jobs.ClaimIn{Kinds: []string{"short", "free", "long"}, Limit: 3})
		if len(got) != len(want) {
			d.Fatalf("claimed %d jobs", len(got))
		}
		for _, c := range got {
			d.deadline(c.Job.ID, want[c.Job.Kind][0])
			if lease := c.Job.LeaseExpiresAt.Sub(d.Now); lease != want[c.Job.Kind][1] {
				d.Errorf("%s: a lease of %s", c.Job.Kind, lease)
			}
		}
	})
}

func TestHeartbeatsNeverExtendTheLeaseBeyondTheDeadline(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Timeout: ptr(int64(100))})
		deadline := d.Now.Add(100 * time.Second)
		for _, tt := range []struct {
			seconds *int64
			want    time.Duration // of the lease
		}{{nil, 60 * time.Second}, {nil, 60 * time.Second}, {ptr(int64(86_400)), 40 * time.Second}, {ptr(int64(10)), 10 * time.Second}} {
			d.Pass(20 * time.Second)
			beat, err := d.beat(held, jobs.HeartbeatIn{LeaseSeconds: tt.seconds})
			if err != nil || beat.LeaseExpiresAt.Sub(d.Now) != tt.want || !beat.DeadlineAt.Equal(deadline) {
				d.Errorf("%s before the deadline: %+v, %v", deadline.Sub(d.Now), beat, err)
			}
		}
		d.Pass(20 * time.Second)
		before := d.job(held.Job.ID)
		for range 2 {
			_, err := d.beat(held, jobs.HeartbeatIn{LeaseSeconds: ptr(int64(600)), Progress: js(`"late"`)})
			d.faulted(err, "lease_lost", jobs.Claimed)
			d.Pass(time.Second)
		}
		if diff := cmp.Diff(before, d.job(held.Job.ID)); diff != "" {
			d.Errorf("the late heartbeats (-before +after)\n%s", diff)
		}
		if out := d.finished(held, jobs.FinishIn{Action: jobs.Complete}); out.Run.Status != runs.Succeeded {
			d.Errorf("a finish before the reaper: %s", out.Run.Status)
		}
	})
}

func TestAttemptThatReachesItsLimitIsReapedAsTimeoutWithTheBackoff(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		d.limited("build", ptr(int64(30)))
		id := d.enqueue(jobs.EnqueueIn{MaxAttempts: ptr(int64(3))}).Job.ID
		for attempt, backoff := range []time.Duration{5 * time.Second, 10 * time.Second, 0} {
			held := d.claim()
			d.Pass(30*time.Second + runs.Grace)
			if n := d.reap(); n != 0 {
				d.Errorf("reaped %d within the grace", n)
			}
			d.Pass(time.Microsecond)
			d.reap()
			run := d.runs(id)[0]
			if run.ID != held.RunID || run.Status != runs.Failed || text(run.TerminalReason) != "timeout" || !run.CompletedAt.Equal(d.Now) {
				d.Errorf("run %s %s at %s", run.Status, text(run.TerminalReason), run.CompletedAt)
			}
			job := d.state(id, []string{jobs.Pending, jobs.Pending, jobs.Failed}[attempt])
			if code := dbtest.Get[string](d.T, d.Store, "select cast(error as text) from jobs where id = $1", id); string(run.Error) != code || code[:17] != `{"code":"timeout"` {
				d.Errorf("the job's error is %s, the run's %s", code, run.Error)
			}
			if job.State == jobs.Pending && job.RunAt.Sub(d.Now) != backoff || job.Attempt != int64(attempt+1) {
				d.Errorf("attempt %d runs again in %s", job.Attempt, job.RunAt.Sub(d.Now))
			}
			d.Pass(backoff)
		}
	})
}

// Jobs that one worker held, or that were claimed at once, reach a limit together.
func TestAttemptsReapedTogetherAtTheirLimitAreTriedAgainApart(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		clock := dbtest.Freeze(d.Store)
		for range 12 {
			d.enqueue(jobs.EnqueueIn{Timeout: ptr(int64(30))})
		}
		held := d.claimIn(jobs.ClaimIn{Limit: 12})
		clock.Advance(time.Minute)
		if n, err := jobs.ReapAll(d.Context(), d.Store, jobs.NewHub(nil), slog.New(slog.DiscardHandler)); n != 12 || err != nil {
			d.Fatalf("reaped %d: %v", n, err)
		}
		waits := map[time.Duration]bool{}
		for _, c := range held {
			wait := d.job(c.Job.ID).RunAt.Sub(d.runs(c.Job.ID)[0].CompletedAt)
			if wait < 4*time.Second || wait > 6*time.Second {
				d.Errorf("tried again after %s, the backoff is 4 to 6 s", wait)
			}
			waits[wait] = true
		}
		if len(waits) < 2 {
			d.Errorf("all are tried again after %v", waits)
		}
	})
}

// A worker that dies long before its limit is not a slow one.
func TestLeaseThatEndsBeforeTheDeadlineIsReapedAsExpired(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		d.limited("build", ptr(int64(61)))
		held := d.held(jobs.EnqueueIn{})
		d.Pass(5 * time.Minute)
		d.reap()
		job := d.state(held.Job.ID, jobs.Pending)
		if run := d.runs(job.ID)[0]; run.Status != runs.Abandoned || text(run.TerminalReason) != "lease_expired" || !job.RunAt.Equal(d.Now) {
			d.Errorf("run %s %s, the job runs at %s", run.Status, text(run.TerminalReason), job.RunAt)
		}
	})
}

func TestCancelRequestedJobIsCancelledAtItsLimit(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Timeout: ptr(int64(30))})
		if _, err := d.cancel(held.Job.ID); err != nil {
			d.Fatal(err)
		}
		d.Pass(time.Minute)
		d.reap()
		d.state(held.Job.ID, jobs.Cancelled)
		if run := d.runs(held.Job.ID)[0]; run.Status != runs.Failed || text(run.TerminalReason) != "timeout" {
			d.Errorf("run %s %s", run.Status, text(run.TerminalReason))
		}
	})
}

// The reaper ended the attempt, not its holder: no report of it was taken.
func TestHolderThatReportsAfterTheReapedTimeoutHasLostItsLease(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Timeout: ptr(int64(30))})
		d.Pass(time.Minute)
		d.reap()
		before := d.job(held.Job.ID)
		for _, in := range actions {
			_, err := d.finish(held, in)
			d.faulted(err, "lease_lost", jobs.Pending)
		}
		if diff := cmp.Diff(before, d.job(held.Job.ID)); diff != "" {
			d.Errorf("late reports (-before +after)\n%s", diff)
		}
	})
}

func TestSnoozedJobHasANewDeadlineFromItsNextClaim(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Timeout: ptr(int64(30))})
		d.Pass(20 * time.Second)
		d.finished(held, jobs.FinishIn{Action: jobs.Snooze, Seconds: 5})
		d.Pass(20 * time.Second)
		next := d.claim()
		d.deadline(next.Job.ID, 30*time.Second)
		d.Pass(15 * time.Second)
		if beat, err := d.beat(next, jobs.HeartbeatIn{}); err != nil || beat.LeaseExpiresAt.Sub(d.Now) != 15*time.Second {
			d.Errorf("%+v, %v", beat, err)
		}
	})
}

// The release before writes no deadline and cuts no lease.
func TestReplicaOfTheReleaseBeforeLeavesNothingStale(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Timeout: ptr(int64(30))})
		beaten := func(to time.Duration) {
			dbtest.SQL(d.T, d.Store, "update jobs set lease_expires_at = $1 where id = $2", d.Now.Add(to), held.Job.ID)
		}
		beaten(time.Minute)
		d.Pass(10 * time.Second)
		if beat, err := d.beat(held, jobs.HeartbeatIn{}); err != nil || beat.LeaseExpiresAt.Sub(d.Now) != 20*time.Second {
			d.Errorf("a heartbeat of this build leaves %+v, %v", beat, err)
		}
		d.Pass(15 * time.Second)
		beaten(time.Minute)
		d.Pass(10 * time.Second) // beyond the deadline
		_, err := d.beat(held, jobs.HeartbeatIn{})
		d.faulted(err, "lease_lost", jobs.Claimed)
		if n := d.reap(); n != 0 {
			d.Errorf("reaped %d under a live lease", n)
		}
		d.Pass(time.Minute)
		d.reap()
		d.state(held.Job.ID, jobs.Pending)
		if run := d.runs(held.Job.ID)[0]; text(run.TerminalReason) != "timeout" {
			d.Errorf("run %s %s", run.Status, text(run.TerminalReason))
		}

		d.Pass(time.Minute)
		held = d.claim()
		dbtest.SQL(d.T, d.Store, "update runs set deadline_at = null where job_id = $1", held.Job.ID)
		d.Pass(40 * time.Second)
		if beat, err := d.beat(held, jobs.HeartbeatIn{}); err != nil || beat.LeaseExpiresAt.Sub(d.Now) != time.Minute || !beat.DeadlineAt.IsZero() {
			d.Errorf("claimed without a deadline: %+v, %v", beat, err)
		}
		d.Pass(5 * time.Minute)
		d.reap()
		if run := d.runs(held.Job.ID)[0]; text(run.TerminalReason) != "lease_expired" {
			d.Errorf("run %s %s", run.Status, text(run.TerminalReason))
		}
	})
}

func TestKindKeepsTheTimeLimitThatAChangeDoesNotName(t *testing.T) {
	each(t, func(d *fixture) {
		in := jobs.KindIn{Name: "build", LeaseSeconds: 30, MaxAttempts: 2, BackoffBaseSeconds: 1, BackoffCapSeconds: 8}
		for _, tt := range []struct {
			set  *int64
			keep bool
			want int64 // 0: none
		}{{nil, true, 0}, {ptr(int64(9)), false, 9}, {nil, true, 9}, {ptr(int64(604_800)), false, 604_800}, {nil, false, 0}, {nil, true, 0}} {
			in.Timeout, in.KeepTimeout = tt.set, tt.keep
			kind, _ := d.putKind(in)
			if got := kind.TimeoutSeconds; (got == nil) != (tt.want == 0) || got != nil && *got != tt.want {
				d.Errorf("%+v: %+v", tt, kind)
			}
		}
	})
}

func TestDuplicateCarriesItsTimeLimit(t *testing.T) {
	each(t, func(d *fixture) {
		in := jobs.EnqueueIn{Key: ptr("k"), Timeout: ptr(int64(30))}
		held := d.held(in)
		want := func(got *int64, seconds int64) {
			d.Helper()
			if got == nil {
				d.Errorf("no timeout_seconds, want %d", seconds)
			} else if *got != seconds {
				d.Errorf("timeout_seconds %d, want %d", *got, seconds)
			}
		}
		d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`2`)})
		next := d.followed(d.finished(held, jobs.FinishIn{Action: jobs.Complete}).Job)
		want(next.TimeoutSeconds, 30) // of the claimed job
		want(d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Timeout: ptr(int64(40))}).Job.TimeoutSeconds, 40)
		want(d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`3`)}).Job.TimeoutSeconds, 40)

		held = d.claim()
		want(d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Timeout: ptr(int64(50))}).Job.TimeoutSeconds, 40)
		want(d.finished(held, jobs.FinishIn{Action: jobs.Release}).Job.TimeoutSeconds, 50)

		held = d.claim()
		d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`4`)})
		// As a replica of the release before keeps it: without a time limit.
		dbtest.SQL(d.T, d.Store, `update jobs set again = '{"payload":5,"priority":3,"run_at":null,"max_attempts":5,"traceparent":null}' where id = $1`, held.Job.ID)
		want(d.finished(held, jobs.FinishIn{Action: jobs.Release}).Job.TimeoutSeconds, 50)

		held = d.claim()
		d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Timeout: ptr(int64(60))})
		ended := d.finished(held, jobs.FinishIn{Action: jobs.Complete}).Job
		want(ended.TimeoutSeconds, 50)
		want(d.followed(ended).TimeoutSeconds, 60)
	})
}

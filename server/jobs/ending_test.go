package jobs

import (
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
)

var t0 = coltype.At(time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC))

func TestBackoffDoublesUpToTheCapOfTheKind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		base, cap, attempt int64
		jitter             float64
		want               time.Duration
	}{
		{5, 3600, 1, 1, 5 * time.Second},
		{5, 3600, 2, 1, 10 * time.Second},
		{5, 3600, 10, 1, 2560 * time.Second},
		{5, 3600, 11, 1, time.Hour},
		{5, 3600, 100, 1, time.Hour},
		{5, 3600, 1, 0.8, 4 * time.Second},
		{5, 3600, 1, 1.2, 6 * time.Second},
		{5, 3600, 100, 1.2, 72 * time.Minute},
		{2592000, 2592000, 100, 1.2, 864 * time.Hour},
		{1, 1, 7, 1, time.Second},
	} {
		kind := model.JobKind{BackoffBaseSeconds: tt.base, BackoffCapSeconds: tt.cap}
		if got := Backoff(kind, tt.attempt, tt.jitter); got != tt.want {
			t.Errorf("base %d, cap %d, attempt %d, jitter %v: %s, want %s", tt.base, tt.cap, tt.attempt, tt.jitter, got, tt.want)
		}
	}
}

// claimedJob is a job in its second of three attempts.
func claimedJob() model.Job {
	token, worker := "nonce.job_1", "w1"
	return model.Job{
		ID: "job_1", OwnerID: "own_1", Kind: "build", State: Claimed, Payload: coltype.JSON(`{"v":1}`), Priority: 3,
		RunAt: t0.Add(-time.Hour), Attempt: 2, MaxAttempts: 3,
		LeaseToken: &token, ClaimedBy: &worker, LeaseExpiresAt: t0.Add(time.Minute),
		Error: coltype.JSON(`{"code":"before"}`), Progress: coltype.JSON(`50`),
	}
}

func TestEachEndOfAClaimWritesItsOwnStateAttemptAndRun(t *testing.T) {
	t.Parallel()
	kind := model.JobKind{BackoffBaseSeconds: 5, BackoffCapSeconds: 3600}
	last := func(j *model.Job) { j.Attempt = 3 }
	cancelled := func(j *model.Job) { j.CancelRequestedAt = t0.Add(-time.Second) }
	plain := func(*model.Job) {}
	retryable := FinishIn{Error: coltype.JSON(`{"code":"x"}`), Retryable: true, Jitter: 1}
	after := FinishIn{Retryable: true, RetryAfter: new(int64), Jitter: 1}
	*after.RetryAfter = 7

	for _, tt := range []struct {
		name    string
		change  func(*model.Job)
		end     func(model.Job) ending
		state   string
		attempt int64
		runAt   time.Duration // from t0, when pending
		run     string
		reason  string
	}{
		{"complete", plain, func(model.Job) ending { return completed(nil) }, Succeeded, 2, 0, runs.Succeeded, ""},
		{"complete after a cancel request", cancelled, func(model.Job) ending { return completed(nil) }, Succeeded, 2, 0, runs.Succeeded, ""},
		{"fail", plain, func(j model.Job) ending { return retryable.failed(j, kind, t0) }, Pending, 2, 10 * time.Second, runs.Failed, ""},
		{"fail with retry_after_seconds", plain, func(j model.Job) ending { return after.failed(j, kind, t0) }, Pending, 2, 7 * time.Second, runs.Failed, ""},
		{"fail for good", plain, func(j model.Job) ending { return FinishIn{Jitter: 1}.failed(j, kind, t0) }, Failed, 2, 0, runs.Failed, ""},
		{"fail of the last attempt", last, func(j model.Job) ending { return retryable.failed(j, kind, t0) }, Failed, 3, 0, runs.Failed, ""},
		{"fail after a cancel request", cancelled, func(j model.Job) ending { return retryable.failed(j, kind, t0) }, Cancelled, 2, 0, runs.Failed, ""},
		{"snooze", plain, func(j model.Job) ending { return givenBack(j, runs.ReasonSnoozed, t0.Add(time.Minute)) }, Pending, 1, time.Minute, runs.Cancelled, runs.ReasonSnoozed},
		{"snooze of the last attempt", last, func(j model.Job) ending { return givenBack(j, runs.ReasonSnoozed, t0.Add(time.Minute)) }, Pending, 2, time.Minute, runs.Cancelled, runs.ReasonSnoozed},
		{"snooze after a cancel request", cancelled, func(j model.Job) ending { return givenBack(j, runs.ReasonSnoozed, t0) }, Cancelled, 1, 0, runs.Cancelled, runs.ReasonSnoozed},
		{"release", plain, func(j model.Job) ending { return givenBack(j, runs.ReasonReleased, t0) }, Pending, 1, 0, runs.Cancelled, runs.ReasonReleased},
		{"release after a cancel request", cancelled, func(j model.Job) ending { return givenBack(j, runs.ReasonReleased, t0) }, Cancelled, 1, 0, runs.Cancelled, runs.ReasonReleased},
		{"expiry", plain, func(j model.Job) ending { return expired(j, t0) }, Pending, 2, 0, runs.Abandoned, runs.ReasonLeaseExpired},
		{"expiry of the last lease", last, func(j model.Job) ending { return expired(j, t0) }, Failed, 3, 0, runs.Abandoned, runs.ReasonLeaseExpired},
		{"expiry after a cancel request", cancelled, func(j model.Job) ending { return expired(j, t0) }, Cancelled, 2, 0, runs.Abandoned, runs.ReasonLeaseExpired},
	} {
		job := claimedJob()
		tt.change(&job)
		end := tt.end(job)
		next, err := end.apply(job, t0)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if next.State != tt.state || next.Attempt != tt.attempt {
			t.Errorf("%s: %s, attempt %d; want %s, %d", tt.name, next.State, next.Attempt, tt.state, tt.attempt)
		}
		if end.runStatus != tt.run || end.reason != tt.reason {
			t.Errorf("%s: run %s %q; want %s %q", tt.name, end.runStatus, end.reason, tt.run, tt.reason)
		}
		if final(next.State) == next.FinishedAt.IsZero() {
			t.Errorf("%s: %s with finished_at %q", tt.name, next.State, next.FinishedAt)
		}
		if next.State == Pending && !next.RunAt.Equal(t0.Add(tt.runAt)) {
			t.Errorf("%s: runs at %s, want %s", tt.name, next.RunAt, t0.Add(tt.runAt))
		}
		if *next.LeaseToken != *job.LeaseToken || !next.LeaseExpiresAt.Equal(job.LeaseExpiresAt) {
			t.Errorf("%s: not fenced by the lease that was read", tt.name)
		}
	}
}

func TestJobThatReturnsToPendingTakesWhatWasAskedAgain(t *testing.T) {
	t.Parallel()
	due := func(a string) (model.JobSettleParams, error) {
		job := claimedJob()
		job.Again = coltype.JSON(a)
		return givenBack(job, runs.ReasonSnoozed, t0.Add(time.Hour)).apply(job, t0)
	}
	next, err := due(`{"payload":{"v":2},"priority":1,"run_at":"2026-03-04T05:07:00.000000Z","max_attempts":1,"traceparent":"00-a"}`)
	if err != nil {
		t.Fatal(err)
	}
	if string(next.Payload) != `{"v":2}` || next.Priority != 1 || next.Traceparent == nil || *next.Traceparent != "00-a" {
		t.Errorf("took %s, priority %d, traceparent %v", next.Payload, next.Priority, next.Traceparent)
	}
	if want := t0.Add(53 * time.Second); !next.RunAt.Equal(want) {
		t.Errorf("runs at %s, want %s", next.RunAt, want)
	}
	if next.MaxAttempts != 2 {
		t.Errorf("max_attempts %d leaves no attempt after attempt %d", next.MaxAttempts, next.Attempt)
	}
	// In the past means now; absent means that the wait goes on.
	if next, _ = due(`{"payload":1,"priority":3,"run_at":"2026-03-01T00:00:00.000000Z","max_attempts":5}`); !next.RunAt.Equal(t0) {
		t.Errorf("a run_at in the past became %s", next.RunAt)
	}
	if next, _ = due(`{"payload":1,"priority":3,"run_at":null,"max_attempts":5}`); !next.RunAt.Equal(t0.Add(time.Hour)) {
		t.Errorf("without run_at the snooze became %s", next.RunAt)
	}
	if _, err := due(`{`); err == nil {
		t.Error("a broken again was taken")
	}
}

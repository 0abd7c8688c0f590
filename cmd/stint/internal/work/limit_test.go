package work

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/gen/client"
)

func TestACommandIsAskedToEndGraceBeforeItsLimitButNotBeforeHalfOfIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ length, grace, left time.Duration }{
		{time.Hour, 30 * time.Second, 30 * time.Second},
		{10 * time.Second, 30 * time.Second, 5 * time.Second},
		{time.Hour, 0, 0},
	} {
		l := limit{at: 1 << 50, length: tt.length}
		if left := l.at.Sub(l.warning(tt.grace)); left != tt.left {
			t.Errorf("%s before a limit of %s with a grace of %s", left, tt.length, tt.grace)
		}
	}
}

// The server has made the smallest of kind, job and claim; a limit of the worker's
// that it does not know counts beside that.
func TestTheSmallestLimitCounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ own, servers, want time.Duration }{
		{0, 0, 0},
		{time.Hour, 0, time.Hour},
		{0, time.Minute, time.Minute},
		{time.Hour, time.Minute, time.Minute},
		{time.Minute, time.Hour, time.Minute},
	} {
		claimedAt := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
		j := job{answered: 1 << 50, Claimed: client.Claimed{UpdatedAt: claimedAt}}
		if deadline := claimedAt.Add(tt.servers); tt.servers > 0 {
			j.DeadlineAt = &deadline
		}
		l := (&worker{Config: Config{Timeout: tt.own}}).limitOf(j)
		if l.length != tt.want || l.at.Sub(j.answered) != tt.want {
			t.Errorf("%s of the worker, %s of the server: %+v", tt.own, tt.servers, l)
		}
		l.confirm(1<<51, client.HeartbeatAnswer{Now: claimedAt, DeadlineAt: j.DeadlineAt})
		if moved := l.at.Sub(j.answered) != tt.want; moved != (tt.servers > 0 && tt.servers == tt.want) {
			t.Errorf("%s of the worker, %s of the server: moved by the server: %t", tt.own, tt.servers, moved)
		}
	}
}

// What the server is told of a time limit fits, and keeps the end of what the
// command printed and the warning.
func TestATimeoutKeepsWhatTheCommandSaid(t *testing.T) {
	t.Parallel()
	f := outcome.Failed("signal_term", strings.Repeat("x", outcome.MaxText-4)+"last")
	f.Warning = "no JSON"
	got := timedOut(f, limit{length: time.Second})
	if got.Code != "timeout" || got.Warning != f.Warning || len(got.Message) != outcome.MaxText ||
		!strings.HasPrefix(got.Message, "the time limit of 1s has passed; x") || !strings.HasSuffix(got.Message, "xlast") {
		t.Errorf("reported %+v", got)
	}
}

// The fake's clock is wrong by years: only the difference of its times counts.
func TestTheServerSaysHowMuchIsLeftOfALimit(t *testing.T) {
	t.Parallel()
	f := &fake{reply: func(_ *fake, c call) (int, string) {
		switch c.action {
		case "claim":
			return 200, `{"jobs":[{"id":"job_1","kind":"k","attempt":1,"run_id":"run_1","lease_token":"secret",
				"updated_at":"2001-01-01T00:00:00Z","deadline_at":"2001-01-01T00:00:20Z","lease_expires_at":"2001-01-01T00:00:20Z"}]}`
		case "heartbeat":
			return 200, `{"directive":"continue","now":"2001-01-01T00:00:19.2Z",
				"deadline_at":"2001-01-01T00:00:20Z","lease_expires_at":"2001-01-01T00:00:20Z"}`
		}
		return 200, finished
	}}
	began := time.Now()
	end(t, startWork(t, f, Config{MaxJobs: 1, Grace: 50 * time.Millisecond}, `trap "" TERM; echo begun; while :; do sleep 0.05; done`))
	if took := time.Since(began); took < 700*time.Millisecond || took > 15*time.Second {
		t.Errorf("ended after %s, with 800 ms left", took)
	}
	if got := f.actions(); got != "claim heartbeat fail" {
		t.Fatalf("the server was asked for %q", got)
	}
	if body := f.done("fail")[0].body; !strings.Contains(body, `"code":"timeout"`) || !strings.Contains(body, "limit of 20s has passed; begun") {
		t.Errorf("reported %s", body)
	}
}

// A heartbeat that reaches the server at the limit itself finds the lease ended by it.
func TestAHeartbeatAtTheLimitDoesNotHideIt(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(1100 * time.Millisecond)
	f := &fake{
		hold: func(c call, _ <-chan struct{}) {
			if left := time.Until(deadline); c.action == "heartbeat" && left < 300*time.Millisecond {
				<-time.After(left)
			}
		},
		reply: func(f *fake, c call) (int, string) {
			now := time.Now()
			switch {
			case c.action == "claim":
				return 200, strings.Replace(oneJob(time.Second), `"lease_expires_at"`, fmt.Sprintf(`"deadline_at":%q,"lease_expires_at"`, deadline.Format(time.RFC3339Nano)), 1)
			case c.action == "heartbeat" && now.Before(deadline):
				at := []any{now.Format(time.RFC3339Nano), deadline.Format(time.RFC3339Nano), now.Add(time.Second).Format(time.RFC3339Nano)}
				return 200, fmt.Sprintf(`{"directive":"continue","now":%q,"deadline_at":%q,"lease_expires_at":%q}`, at...)
			case c.action == "heartbeat":
				return 409, lost
			}
			return 200, finished
		},
	}
	end(t, startWork(t, f, Config{MaxJobs: 1, Grace: 50 * time.Millisecond}, `trap "" TERM; while :; do sleep 0.05; done`))
	if reports := f.done("fail"); len(reports) != 1 || !strings.Contains(reports[0].body, `"code":"timeout"`) {
		t.Errorf("the server was asked for %q: %+v", f.actions(), reports)
	}
}

func TestAServerThatKnowsNoLimitsLeavesThemToTheWorker(t *testing.T) {
	t.Parallel()
	f := &fake{reply: func(_ *fake, c call) (int, string) {
		switch {
		case c.action == "claim" && strings.Contains(c.body, "timeout_seconds"):
			return 422, `{"code":"validation_failed","status":422,"detail":"","errors":[{"pointer":"/timeout_seconds","detail":"unknown"}]}`
		case c.action == "claim":
			return 200, oneJob(time.Minute)
		}
		return 200, finished
	}}
	end(t, startWork(t, f, Config{MaxJobs: 2, Timeout: time.Second}, "sleep 60"))
	if got := f.actions(); got != "claim claim fail claim fail" {
		t.Fatalf("the server was asked for %q", got)
	}
	if claims := f.done("claim"); claims[0].key == claims[1].key {
		t.Errorf("two different claims have the key %q", claims[0].key)
	}
	for _, report := range f.done("fail") {
		if !strings.Contains(report.body, `"code":"timeout"`) || !strings.Contains(report.body, "ms before the time limit of 1s; ") {
			t.Errorf("reported %s", report.body)
		}
	}
}

// Replicas of two releases may serve.
func TestAServerThatKnewNoLimitsIsAskedAgainLater(t *testing.T) {
	t.Parallel()
	c := &claims{worker: &worker{Config: Config{Timeout: time.Hour, Log: slog.New(slog.DiscardHandler)}}}
	c.withoutTimeout()
	if c.request(1).body.TimeoutSeconds != nil {
		t.Errorf("asked again at once")
	}
	if c.timeouts = c.timeouts.Add(-timeoutsAgain); c.request(1).body.TimeoutSeconds == nil {
		t.Errorf("not asked again after %s", timeoutsAgain)
	}
}

func TestAWorkersOwnLimitIsSentWithItsClaims(t *testing.T) {
	t.Parallel()
	f := &fake{reply: func(_ *fake, c call) (int, string) {
		if c.action == "claim" {
			return 200, oneJob(time.Minute)
		}
		return 200, finished
	}}
	end(t, startWork(t, f, Config{MaxJobs: 1, Timeout: 90 * time.Second}, "true"))
	if body := f.done("claim")[0].body; !strings.Contains(body, `"timeout_seconds":90`) {
		t.Errorf("claimed with %s", body)
	}
}

// A limit that passed while the claim's answer was on its way costs no attempt.
func TestAJobWhoseLimitHasPassedIsGivenBack(t *testing.T) {
	t.Parallel()
	f := &fake{reply: func(_ *fake, c call) (int, string) {
		switch c.action {
		case "claim":
			return 200, strings.Replace(oneJob(time.Minute), `"lease_expires_at"`, fmt.Sprintf(`"deadline_at":%q,"lease_expires_at"`, "2030-01-01T00:00:00Z"), 1)
		case "heartbeat":
			return 200, `{"directive":"continue","now":"2030-01-01T00:00:00Z","deadline_at":"2030-01-01T00:00:00Z","lease_expires_at":"2030-01-01T00:00:00Z"}`
		}
		return 200, finished
	}}
	end(t, startWork(t, f, Config{MaxJobs: 1}, "true"))
	if got := f.actions(); got != "claim heartbeat release" {
		t.Errorf("the server was asked for %q", got)
	}
}

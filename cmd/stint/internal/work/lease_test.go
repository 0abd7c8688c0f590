package work

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/boottime"
	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/server/runs"
)

// The server takes 10 s to 24 h; a lease that a time limit cuts says nothing of
// the length to ask for.
func TestHeartbeatsAskForALeaseThatTheServerGives(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := map[string]struct {
		flag, granted, limit time.Duration
		asked, beats         time.Duration // asked 0: the kind's own
	}{
		"the kind's":                    {0, time.Minute, 0, time.Minute, 20 * time.Second},
		"the flag's":                    {30 * time.Second, 30 * time.Second, 0, 30 * time.Second, 10 * time.Second},
		"cut by a limit":                {0, 3 * time.Second, 3 * time.Second, 0, minLease / 3},
		"cut, and long":                 {0, 15 * time.Second, 15 * time.Second, 0, 5 * time.Second},
		"the flag's, cut by a limit":    {30 * time.Second, 3 * time.Second, 3 * time.Second, 30 * time.Second, 10 * time.Second},
		"shorter than its limit":        {0, time.Minute, time.Hour, time.Minute, 20 * time.Second},
		"shorter than can be asked for": {0, 4 * time.Second, 0, 0, 4 * time.Second / 3},
		"other than the flag asks for":  {30 * time.Second, 6 * time.Second, 0, 30 * time.Second, 2 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expires := now.Add(tt.granted)
			j := job{since: 1 << 50, Claimed: client.Claimed{UpdatedAt: now, LeaseExpiresAt: &expires}}
			if tt.limit > 0 {
				deadline := now.Add(tt.limit)
				j.DeadlineAt = &deadline
			}
			l := (&worker{Config: Config{Lease: tt.flag}}).leaseOf(j)
			var asked time.Duration
			if l.seconds != nil {
				asked = time.Duration(*l.seconds) * time.Second
			}
			if asked != tt.asked || l.next().Sub(j.since) != tt.beats || l.sure.Sub(j.since) != tt.granted {
				t.Errorf("asks for %s, beats every %s, sure for %s", asked, l.next().Sub(j.since), l.sure.Sub(j.since))
			}
		})
	}
}

// A heartbeat that is not answered leaves time to ask again.
func TestAHeartbeatWaitsForAThirdOfTheLeaseAtMost(t *testing.T) {
	t.Parallel()
	for length, want := range map[time.Duration]time.Duration{15 * time.Second: 5 * time.Second, time.Hour: beatTime} {
		if got := (&lease{length: length}).patience(); got != want {
			t.Errorf("under a lease of %s it waits for %s", length, got)
		}
	}
}

// What a heartbeat was given counts from when it was sent, by the server's times.
func TestALeaseIsAsLongAsTheHeartbeatSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	deadline := now.Add(8 * time.Second)
	tests := map[string]struct {
		beat         client.HeartbeatAnswer
		sure, length time.Duration
	}{
		"shorter":         {client.HeartbeatAnswer{Now: now, LeaseExpiresAt: now.Add(20 * time.Second)}, 20 * time.Second, 20 * time.Second},
		"cut by a limit":  {client.HeartbeatAnswer{Now: now, LeaseExpiresAt: deadline, DeadlineAt: &deadline}, 8 * time.Second, time.Minute},
		"an older server": {client.HeartbeatAnswer{LeaseExpiresAt: now}, time.Minute, time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &lease{length: time.Minute}
			l.renewed(1<<50, tt.beat)
			if sure := l.sure.Sub(1 << 50); sure != tt.sure || l.length != tt.length {
				t.Errorf("sure for %s, a length of %s", sure, l.length)
			}
		})
	}
}

// A busy machine takes up to two seconds to kill a large tree of processes.
func TestACommandIsKilledTwoSecondsBeforeItsJobIsTakenBack(t *testing.T) {
	t.Parallel()
	l := &lease{sure: 1 << 50}
	if left := l.held().Add(runs.Grace).Sub(l.until()); left < 2*time.Second {
		t.Errorf("killed %s before the server takes the job back", left)
	}
}

// The supervisor keeps the end of the lease too, and hears of each renewal.
func TestACommandGoesOnForAsLongAsItsLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	f := working(time.Second)
	long := time.Second + leaseSpare + 500*time.Millisecond // it would be killed before that
	end(t, startWork(t, f, Config{MaxJobs: 1}, fmt.Sprintf("sleep %.1f", long.Seconds())))
	if got := f.actions(); !strings.HasSuffix(got, "heartbeat complete") {
		t.Errorf("the server was asked for %q", got)
	}
}

// The answer of a heartbeat may come late, and the lease counts from before it.
func TestARenewalCountsFromWhenItWasAskedFor(t *testing.T) {
	t.Parallel()
	for name, renew := range map[string]func(context.Context, *attempt, *supervise.Command){
		"before the command": func(ctx context.Context, a *attempt, _ *supervise.Command) { a.held(ctx) },
		"beside the command": func(ctx context.Context, a *attempt, c *supervise.Command) { a.heartbeats(ctx, c) },
		"behind the command": func(ctx context.Context, a *attempt, _ *supervise.Command) { a.keep(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var arrived boottime.Instant
			f := working(time.Minute)
			f.hold = func(call, <-chan struct{}) {
				arrived = boottime.Now()
				<-time.After(20 * time.Millisecond)
			}
			a, c := leased(t, f)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go renew(ctx, a, c)
			waitFor(t, func() bool { return boottime.Until(a.lease.held()) > 30*time.Second })
			if late := a.lease.held().Sub(arrived.Add(time.Minute)); late > 0 {
				t.Errorf("sure for %s longer than the server was asked for", late)
			}
		})
	}
}

// leased is an attempt whose lease of a minute must be renewed, and its command.
func leased(t *testing.T, f *fake) (*attempt, *supervise.Command) {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	c, err := api.New(s.URL, "token", "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{Config: Config{API: c, Log: slog.New(slog.DiscardHandler)}}
	a := w.attempt(job{Claimed: client.Claimed{ID: "job_1", DeadlineAt: &time.Time{}}})
	a.lease = &lease{length: time.Minute, sure: boottime.Now().Add(10 * time.Second)}
	a.files = outcome.NameFiles()
	a.progress = a.files.Progress()
	t.Cleanup(a.files.Remove)
	command, err := w.commands.Start(supervise.Job{
		Path: "/bin/sleep", Args: []string{"sleep", "600"}, Until: boottime.Now().Add(time.Hour),
		Handover: a.handover().Encode(),
	}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Kill()
		<-command.Done()
		command.Settled()
	})
	return a, command
}

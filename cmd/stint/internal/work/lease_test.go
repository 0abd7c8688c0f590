package work

import (
	"testing"
	"time"

	"github.com/stint-run/stint/gen/client"
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

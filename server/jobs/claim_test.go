package jobs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/runs"
)

func TestClaimedJobIsUnderALeaseWithARunOfItsAttempt(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		before := d.enqueue(jobs.EnqueueIn{Key: ptr("k")}).Job
		d.Pass(time.Second)
		got := d.claim()
		want := before
		want.State, want.Attempt, want.LeaseToken, want.ClaimedBy = jobs.Claimed, 1, got.Job.LeaseToken, ptr("w1")
		want.LeaseExpiresAt, want.UpdatedAt = d.Now.Add(time.Minute), d.Now
		if diff := cmp.Diff(want, got.Job); diff != "" {
			d.Errorf("job (-want +got)\n%s", diff)
		}
		if diff := cmp.Diff(got.Job, d.job(before.ID)); diff != "" {
			d.Errorf("read again (-claimed +read)\n%s", diff)
		}
		run, err := runs.Get(d.Context(), d.Store, d.Owner, got.RunID)
		if err != nil {
			d.Fatal(err)
		}
		wantRun := runs.Run{
			ID: got.RunID, OwnerID: d.Owner, Kind: "job", JobID: &before.ID, Status: "running", Attempt: ptr(int64(1)),
			Worker: ptr("w1"), Origin: "live", CreatedAt: d.Now, StartedAt: d.Now,
			JobState: ptr(jobs.Claimed), JobLeaseExpiresAt: d.Now.Add(time.Minute),
		}
		if diff := cmp.Diff(wantRun, run); diff != "" {
			d.Errorf("run (-want +got)\n%s", diff)
		}
		hash := dbtest.Get[string](d.T, d.Store, "select token_hash from runs")
		if token := *got.Job.LeaseToken; hash != runs.TokenHash(token) || strings.Contains(hash, token) {
			d.Errorf("the ledger keeps %q of the token", hash)
		}
		if shown := runs.Shown(run, d.Now); shown != runs.InProgress {
			d.Errorf("shown as %s", shown)
		}
	})
}

func TestLeaseIsTheKindsUnlessOneIsAsked(t *testing.T) {
	each(t, func(d *fixture) {
		d.putKind(jobs.KindIn{Name: "slow", LeaseSeconds: 600, MaxAttempts: 5, BackoffBaseSeconds: 5, BackoffCapSeconds: 3600})
		for range 2 {
			d.enqueue(jobs.EnqueueIn{Kind: "slow"})
			d.enqueue(jobs.EnqueueIn{Kind: "build"})
		}
		lease := func(in jobs.ClaimIn) string {
			in.Kinds, in.Limit = []string{"build", "slow"}, 1
			var out []string
			for range 2 {
				for _, c := range d.claimIn(in) {
					out = append(out, c.Job.Kind+" "+c.Job.LeaseExpiresAt.Sub(d.Now).String())
				}
				in.Turn++
			}
			return strings.Join(out, ", ")
		}
		if got := lease(jobs.ClaimIn{}); got != "build 1m0s, slow 10m0s" {
			d.Errorf("leases: %s", got)
		}
		if got := lease(jobs.ClaimIn{LeaseSeconds: ptr(int64(15))}); got != "build 15s, slow 15s" {
			d.Errorf("leases asked: %s", got)
		}
	})
}

func TestClaimTakesPriorityThenRunAtThenCreationOrder(t *testing.T) {
	each(t, func(d *fixture) {
		at := func(priority int64, in time.Duration) string {
			return d.enqueue(jobs.EnqueueIn{Priority: &priority, RunAt: d.Now.Add(in)}).Job.ID
		}
		want := []string{5: ""}
		want[5] = at(4, 0)
		want[3], want[4] = at(3, 2*time.Second), at(3, 2*time.Second)
		want[2] = at(3, time.Second)
		want[1] = at(1, 3*time.Second)
		want[0] = at(1, 0)
		d.Pass(3 * time.Second)
		var got []string
		for _, limit := range []int64{4, 100} {
			for _, c := range d.claimIn(jobs.ClaimIn{Limit: limit}) {
				got = append(got, c.Job.ID)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			d.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestKindAskedFirstRotatesWithinAPriority(t *testing.T) {
	each(t, func(d *fixture) {
		kinds := []string{"a", "b", "c"}
		for range 4 {
			for _, kind := range kinds {
				d.enqueue(jobs.EnqueueIn{Kind: kind})
			}
		}
		var got []string
		for turn := range uint64(4) {
			got = append(got, d.claimIn(jobs.ClaimIn{Kinds: kinds, Turn: turn})[0].Job.Kind)
		}
		if s := strings.Join(got, " "); s != "a b c a" {
			d.Errorf("kinds served first: %s", s)
		}
		// A more urgent job of any kind goes before the rotation.
		urgent := d.enqueue(jobs.EnqueueIn{Kind: "c", Priority: ptr(int64(2))}).Job
		batch := d.claimIn(jobs.ClaimIn{Kinds: kinds, Turn: 1, Limit: 4})
		got = nil
		for _, c := range batch {
			got = append(got, c.Job.Kind)
		}
		if s := strings.Join(got, " "); batch[0].Job.ID != urgent.ID || s != "c b b b" {
			d.Errorf("served %s", s)
		}
	})
}

func TestJobIsNotClaimedBeforeItsTime(t *testing.T) {
	each(t, func(d *fixture) {
		d.enqueue(jobs.EnqueueIn{RunAt: d.Now.Add(time.Minute)})
		d.Pass(time.Minute - time.Microsecond)
		if got := d.claimIn(jobs.ClaimIn{}); got != nil {
			d.Errorf("claimed %d jobs early", len(got))
		}
		d.Pass(time.Microsecond)
		d.claim()
	})
}

func TestUrgentWorkThatIsNotDueHoldsNothingUp(t *testing.T) {
	each(t, func(d *fixture) {
		d.enqueue(jobs.EnqueueIn{Priority: ptr(int64(1)), RunAt: d.Now.Add(time.Minute)})
		due := d.enqueue(jobs.EnqueueIn{Priority: ptr(int64(4))}).Job
		if got := d.claim().Job.ID; got != due.ID {
			d.Errorf("claimed %s", got)
		}
	})
}

func TestClaimOfAnUnknownKindWaitsForIt(t *testing.T) {
	each(t, func(d *fixture) {
		if got := d.claimIn(jobs.ClaimIn{Kinds: []string{"unheard"}}); got != nil {
			d.Errorf("claimed %d jobs", len(got))
		}
		if _, err := jobs.GetKind(d.Context(), d.Store, d.Owner, "unheard"); err == nil {
			d.Error("the claim registered the kind")
		}
		d.enqueue(jobs.EnqueueIn{Kind: "unheard"})
		d.claim("unheard")
	})
}

func TestClaimLeavesJobsOfOtherOwnersAndKindsAndThoseHeldBack(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		other := *d
		other.Owner = dbtest.Owner(d.T, d.Store, "bob").ID
		other.enqueue(jobs.EnqueueIn{})
		d.enqueue(jobs.EnqueueIn{Kind: "other"})
		for i, reason := range jobs.WaitingFor {
			job := d.enqueue(jobs.EnqueueIn{Key: ptr(fmt.Sprint(i))}).Job
			dbtest.SQL(d.T, d.Store, "update jobs set waiting_for = $1 where id = $2", reason, job.ID)
		}
		d.enqueue(jobs.EnqueueIn{RunAt: d.Now.Add(time.Second)})
		if got := d.claimIn(jobs.ClaimIn{Kinds: []string{"build"}, Limit: 100}); got != nil {
			d.Errorf("claimed %d jobs", len(got))
		}
	})
}

// CLM-23: who holds what is in the database, not in a process.
func TestRestartHandsNothingOutTwiceAndTheTokenStillHolds(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		reborn := *d
		reborn.Store = dbtest.Open(d.T, storeConfig(d))
		if got := reborn.claimIn(jobs.ClaimIn{Worker: "w2", Limit: 100}); got != nil {
			d.Errorf("claimed %d jobs that are held", len(got))
		}
		if _, err := reborn.beat(held, jobs.HeartbeatIn{}); err != nil {
			d.Errorf("heartbeat after the restart: %v", err)
		}
		reborn.finished(held, jobs.FinishIn{Action: jobs.Complete})
	})
}

func TestClaimTokensAreOfOneJobAndOneAttempt(t *testing.T) {
	each(t, func(d *fixture) {
		d.enqueue(jobs.EnqueueIn{})
		d.enqueue(jobs.EnqueueIn{})
		seen := map[string]bool{}
		for range 2 {
			for _, c := range d.claimIn(jobs.ClaimIn{Limit: 2}) {
				if token := *c.Job.LeaseToken; seen[token] || len(token) > 128 {
					d.Errorf("token %q", token)
				}
				seen[*c.Job.LeaseToken] = true
				d.finished(c, jobs.FinishIn{Action: jobs.Release})
			}
		}
		if len(seen) != 4 {
			d.Errorf("%d tokens", len(seen))
		}
	})
}

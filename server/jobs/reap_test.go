package jobs_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/runs"
)

func (d *fixture) zero() coltype.Time { return coltype.Time{} }

func TestReaperTakesBackWhatIsOverdueByMoreThanTheGrace(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		d.Pass(time.Minute + runs.Grace)
		if n := d.reap(); n != 0 {
			d.Errorf("reaped %d within the grace", n)
		}
		d.Pass(time.Microsecond)
		if n := d.reap(); n != 1 {
			d.Errorf("reaped %d, want 1", n)
		}
		job := d.state(held.Job.ID, jobs.Pending)
		if job.Attempt != 1 || !job.RunAt.Equal(d.Now) || job.LeaseToken != nil {
			d.Errorf("attempt %d, run_at %s, token %s", job.Attempt, job.RunAt, text(job.LeaseToken))
		}
		run := d.runs(job.ID)[0]
		if run.Status != runs.Abandoned || text(run.TerminalReason) != "lease_expired" || !run.CompletedAt.Equal(d.Now) {
			d.Errorf("run %s %s at %s", run.Status, text(run.TerminalReason), run.CompletedAt)
		}
		if n := d.reap(); n != 0 {
			d.Errorf("reaped %d twice", n)
		}
	})
}

// CLM-14: long work that is alive is left alone.
func TestWorkThatBeatsIsNeverTakenBack(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		for i := range 60 { // ten minutes
			d.Pass(10 * time.Second)
			if i%2 == 0 {
				if _, err := d.beat(held, jobs.HeartbeatIn{}); err != nil {
					d.Fatal(err)
				}
			}
			if n := d.reap(); n != 0 {
				d.Fatalf("reaped after %s", d.Now.Sub(dbtest.T0))
			}
		}
		job := d.state(held.Job.ID, jobs.Claimed)
		if runs := d.runs(job.ID); job.Attempt != 1 || len(runs) != 1 {
			d.Errorf("attempt %d, %d runs", job.Attempt, len(runs))
		}
	})
}

// CRA-01, CLM-18: a job that kills its worker ends when its attempts do.
func TestJobThatKillsItsWorkerFailsAfterItsLastAttempt(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		for _, attempts := range []int64{1, 3} {
			id := d.enqueue(jobs.EnqueueIn{Key: ptr("k"), MaxAttempts: &attempts}).Job.ID
			handed := 0
			for range 5 {
				handed += len(d.claimIn(jobs.ClaimIn{}))
				d.Pass(2 * time.Minute)
				d.reap()
			}
			job := d.state(id, jobs.Failed)
			if handed != int(attempts) || job.Attempt != attempts {
				d.Errorf("handed out %d times, attempt %d, want %d", handed, job.Attempt, attempts)
			}
			if string(job.Error) == "" || dbtest.Get[string](d.T, d.Store, "select error from jobs where id = $1", id) == "" {
				d.Error("the failed job has no error")
			}
			ledger := d.runs(id)
			for _, r := range ledger {
				if r.Status != runs.Abandoned || text(r.TerminalReason) != "lease_expired" {
					d.Errorf("run %s %s", r.Status, text(r.TerminalReason))
				}
			}
			if len(ledger) != int(attempts) {
				d.Errorf("%d runs, want one per lost attempt", len(ledger))
			}
		}
	})
}

// CRA-06: a key whose holder died is not blocked.
func TestKeyOfADeadHolderComesFreeWhenItsJobEnds(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Key: ptr("k"), MaxAttempts: ptr(int64(1))})
		met := d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Keep: true})
		if !met.Deduplicated || met.Job.ID != held.Job.ID || met.Job.State != jobs.Claimed {
			d.Errorf("met %s, %s", met.Job.ID, met.Job.State)
		}
		d.Pass(2 * time.Minute)
		d.reap()
		d.state(held.Job.ID, jobs.Failed)
		if got := d.enqueue(jobs.EnqueueIn{Key: ptr("k")}); got.Deduplicated {
			d.Error("the key is still held")
		}
	})
}

func TestWhatWasAskedAgainFollowsAJobThatFailedByExpiry(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{Key: ptr("k"), MaxAttempts: ptr(int64(1))})
		d.enqueue(jobs.EnqueueIn{Key: ptr("k"), Payload: js(`2`)})
		d.Pass(2 * time.Minute)
		d.reap()
		failed := d.state(held.Job.ID, jobs.Failed)
		if next := d.followed(failed); string(next.Payload) != "2" || next.Attempt != 0 || text(next.Follows) != failed.ID {
			d.Errorf("successor %+v", next)
		}
	})
}

func TestCancelRequestedJobIsCancelledByExpiry(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		if _, err := d.cancel(held.Job.ID); err != nil {
			d.Fatal(err)
		}
		d.Pass(2 * time.Minute)
		d.reap()
		d.state(held.Job.ID, jobs.Cancelled)
		if r := d.runs(held.Job.ID)[0]; r.Status != runs.Abandoned {
			d.Errorf("run %s", r.Status)
		}
	})
}

// CLM-20: a backlog of overdue leases of all owners goes in bounded batches.
func TestReaperTakesABacklogInBatches(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		other := *d
		other.Owner = dbtest.Owner(d.T, d.Store, "bob").ID
		total := 0
		for i, owner := range []*fixture{d, &other} {
			var items []jobs.EnqueueIn
			for k := range 130 {
				items = append(items, jobs.EnqueueIn{Kind: "build", Key: ptr(fmt.Sprint(i, k))})
			}
			if _, err := owner.tryEnqueue(items...); err != nil {
				d.Fatal(err)
			}
			for lease := int64(10); ; lease += 40_000 { // expiries spread over days
				got := owner.claimIn(jobs.ClaimIn{Limit: 50, LeaseSeconds: ptr(min(lease, 86_400))})
				if total += len(got); got == nil {
					break
				}
			}
		}
		d.Pass(90 * 24 * time.Hour)
		var passes []int
		for {
			n := d.reap()
			if passes = append(passes, n); n < jobs.ReapBatch {
				break
			}
		}
		if got := fmt.Sprint(passes); total != 260 || got != "[100 100 60]" {
			d.Errorf("%d overdue went in %s", total, got)
		}
		left := dbtest.Get[int](d.T, d.Store, "select count(*) from jobs where state = 'claimed'")
		open := dbtest.Get[int](d.T, d.Store, "select count(*) from runs where status = 'running'")
		if left != 0 || open != 0 {
			d.Errorf("%d claimed jobs and %d running runs are left", left, open)
		}
	})
}

// A row that cannot be taken back keeps no other one from it, pass after pass.
func TestReaperPassesOverARowThatItCannotTakeBack(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		clock := dbtest.Freeze(d.Store)
		var items []jobs.EnqueueIn
		for range jobs.ReapBatch + 2 {
			items = append(items, jobs.EnqueueIn{Kind: "build"})
		}
		if _, err := d.tryEnqueue(items...); err != nil {
			d.Fatal(err)
		}
		held := slices.Concat(d.claimIn(jobs.ClaimIn{Limit: 100}), d.claimIn(jobs.ClaimIn{Limit: 100}))
		noRun, badAgain := held[0].Job.ID, held[1].Job.ID
		dbtest.SQL(d.T, d.Store, "delete from runs where job_id = $1", noRun)
		dbtest.SQL(d.T, d.Store, "update jobs set again = '[]' where id = $1", badAgain)
		clock.Advance(2 * time.Minute)
		for _, want := range []int{jobs.ReapBatch, 0} {
			n, err := jobs.ReapAll(d.Context(), d.Store, jobs.NewHub(nil), slog.New(slog.DiscardHandler))
			if n != want || err == nil || !strings.Contains(err.Error(), noRun) || !strings.Contains(err.Error(), badAgain) {
				d.Errorf("took back %d, want %d, %v", n, want, err)
			}
			for i, c := range held {
				d.state(c.Job.ID, []string{jobs.Claimed, jobs.Pending}[min(i/2, 1)])
			}
		}
	})
}

// Who waits hears of jobs that can be claimed again, and of no other.
func TestReaperWakesWhoWaits(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		clock := dbtest.Freeze(d.Store)
		hub := jobs.NewHub(nil)
		build, stop := hub.Listen(d.Owner, []string{"build"})
		defer stop()
		test, stop := hub.Listen(d.Owner, []string{"test"})
		defer stop()
		once := int64(1)
		d.enqueue(jobs.EnqueueIn{Kind: "build"})
		d.enqueue(jobs.EnqueueIn{Kind: "test", MaxAttempts: &once}) // fails for good
		d.claimIn(jobs.ClaimIn{Kinds: []string{"build", "test"}, Limit: 2})
		clock.Advance(2 * time.Minute)
		if n, err := jobs.ReapAll(d.Context(), d.Store, hub, slog.New(slog.DiscardHandler)); n != 2 || err != nil {
			d.Fatalf("took back %d, %v", n, err)
		}
		if len(build) != 1 || len(test) != 0 {
			d.Errorf("woke %d for a job to be tried again, %d for one that failed", len(build), len(test))
		}
	})
}

// CLM-01: a write by a reaper that read before the worker finished changes
// nothing: it repeats the lease it read.
func TestReapersLateWriteDoesNotReviveAFinishedJob(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		d.Pass(2 * time.Minute)
		read := d.job(held.Job.ID)
		settle := model.JobSettleParams{
			ID: read.ID, OwnerID: d.Owner, LeaseToken: read.LeaseToken, LeaseExpiresAt: read.LeaseExpiresAt,
			State: jobs.Pending, Payload: read.Payload, Priority: read.Priority, RunAt: d.Now,
			Attempt: read.Attempt, MaxAttempts: read.MaxAttempts, UpdatedAt: d.Now,
		}
		// A heartbeat in between moved the lease: the same token, a later end.
		if _, err := d.beat(held, jobs.HeartbeatIn{}); err != nil {
			d.Fatal(err)
		}
		write := func() error {
			return d.Store.Tx(d.Context(), func(q model.Querier) error {
				_, err := q.JobSettle(d.Context(), settle)
				return err
			})
		}
		if err := write(); err == nil {
			d.Error("a renewed lease was taken back")
		}
		d.state(held.Job.ID, jobs.Claimed)
		d.finished(held, jobs.FinishIn{Action: jobs.Complete})
		if err := write(); err == nil {
			d.Error("a finished job was put back")
		}
		d.state(held.Job.ID, jobs.Succeeded)
		if rs := d.runs(held.Job.ID); len(rs) != 1 || rs[0].Status != runs.Succeeded {
			d.Errorf("%d runs, %s", len(rs), rs[0].Status)
		}
	})
}

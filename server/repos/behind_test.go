package repos_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/runs"
)

// claimedRun is a job that d's owner claimed for a minute, and its run.
func claimedRun(d *fixture) (job, run string) {
	d.Helper()
	err := d.Try(func(q model.Querier) error {
		out, err := jobs.Enqueue(d.Context(), q, d.Now, d.Owner, []jobs.EnqueueIn{{Kind: "review"}})
		if err == nil {
			job = out[0].Job.ID
			var ids []string
			ids, err = runs.Open(d.Context(), q, d.Now, d.Owner, "w", []runs.Attempt{{JobID: job, Attempt: 1, LeaseToken: "t"}})
			run = ids[0]
		}
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	end := any(d.Now.Add(time.Minute).Time)
	if d.Store.Engine() == "sqlite" {
		end = d.Now.Add(time.Minute).UnixMicro()
	}
	dbtest.SQL(d.T, d.Store, "update jobs set state = 'claimed', attempt = 1, lease_token = 't', claimed_by = 'w', lease_expires_at = $1 where id = $2", end, job)
	return job, run
}

// ofConnection is a running run of a connection.
func ofConnection(d *fixture) (runID string) {
	err := d.Try(func(q model.Querier) (err error) {
		runID, err = runs.Insert(d.Context(), q, d.Now, runs.InsertIn{OwnerID: d.Owner, ConnectionID: "conn_1", Kind: "manual", Generation: 1, LeaseSeconds: 60})
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return runID
}

// The run is shown as the ledger shows it: by its lease, not by its row alone.
func TestRunBehindAProposalIsShownAsTheLedgerShowsIt(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		job, run := claimedRun(d)
		id := d.open(repos.ProposalIn{Head: "a", RunID: &run}).Proposal.ID
		want := repos.RunBehind{ID: run, Kind: "job", Status: runs.InProgress, JobID: &job, JobState: ptr(jobs.Claimed)}
		shows := func(when string) {
			d.Helper()
			if diff := cmp.Diff(&want, d.get(id).Run); diff != "" {
				d.Errorf("%s (-want +got)\n%s", when, diff)
			}
			ledger, err := runs.Get(d.Context(), d.Store, d.Owner, run)
			if err != nil || runs.Shown(ledger, d.Now) != want.Status {
				d.Errorf("%s: the ledger shows %s, %v", when, runs.Shown(ledger, d.Now), err)
			}
		}
		shows("under its lease")
		d.Pass(time.Minute + runs.Grace + time.Second)
		want.Status = runs.Failed
		shows("its lease over")
		if err := d.Try(func(q model.Querier) error { _, err := jobs.Reap(d.Context(), q, d.Now, "", jobs.Jitter); return err }); err != nil {
			d.Fatal(err)
		}
		want.Status, want.JobState = runs.Abandoned, ptr(jobs.Pending)
		shows("reaped")
		dbtest.SQL(d.T, d.Store, "delete from jobs")
		want.JobState = nil
		shows("its job gone")
		want.Status, want.JobID = runs.InProgress, nil
		want.ID = ofConnection(d)
		dbtest.SQL(d.T, d.Store, "update proposals set run_id = $1 where id = $2", want.ID, id)
		run, want.Kind = want.ID, "manual"
		shows("of a connection, under its own lease")
		dbtest.SQL(d.T, d.Store, "delete from runs")
		if got := d.get(id); got.Run != nil || *got.RunID != run {
			d.Errorf("its run gone: %+v of %s", got.Run, *got.RunID)
		}
	})
}

func TestRunOfAnotherOwnerIsNotBehindAProposal(t *testing.T) {
	each(t, func(d *fixture) {
		bob := *d
		bob.Owner = dbtest.Owner(t, d.Store, "bob").ID
		_, run := claimedRun(&bob)
		id := d.open(repos.ProposalIn{Head: "a", RunID: &run}).Proposal.ID
		if got := d.get(id); got.Run != nil {
			d.Errorf("shows %+v", got.Run)
		}
	})
}

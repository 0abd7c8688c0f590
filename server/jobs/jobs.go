// Package jobs is the queue. A job is enqueued (at most one live job per key),
// claimed under a lease, kept alive by heartbeats, and finished.
//
//	            claim                complete
//	pending ─────────────▶ claimed ───────────▶ succeeded
//	   ▲  │ cancel            │  │ fail for good, or the last lease ran out
//	   │  └──▶ cancelled      │  └────────────▶ failed
//	   └──────────────────────┘
//	     fail to be retried, snooze, release, lease ran out
//
// pending and claimed are live, the others final; a waiting retry is pending
// with a later run_at. The attempt is counted by the claim; snooze and release
// give it back.
//
// Three rules hold everywhere. A change of state is one statement whose WHERE
// repeats the state and the lease that were read. A lease is fenced by its
// token: a write under an old token changes nothing. Every claim opens a run in
// the ledger, and whatever ends the claim ends the run, in one transaction.
package jobs

import (
	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// The states of a job (constraint jobs_state_check).
const (
	Pending   = "pending"
	Claimed   = "claimed"
	Succeeded = "succeeded"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// States are all states of a job.
var States = []string{Pending, Claimed, Succeeded, Failed, Cancelled}

// WaitingFor are the reasons a pending job may be held back (constraint
// jobs_waiting_for_check).
var WaitingFor = []string{"slot", "dependency", "connection"}

// Priorities; 1 is the most urgent.
const (
	defaultPriority = 3
	lowestPriority  = 4
)

// final reports whether a job in that state has ended.
func final(state string) bool {
	return state == Succeeded || state == Failed || state == Cancelled
}

// Outcome is a job after an action on it, with the run of the attempt that the
// action ended.
type Outcome struct {
	Job model.Job
	Run runs.Run
}

// deref is the text that p points to, "" for nil.
func deref(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// orNow is at, but never earlier than now: work does not become due in the
// past.
func orNow(at, now coltype.Time) coltype.Time { return coltype.Later(at, now) }

// notBefore is now, but not earlier than the last change of job, as far as
// store.NotBefore believes that: now was read before the wait for the row, and
// whoever held the row may have read it later.
func notBefore(job model.Job, now coltype.Time) coltype.Time {
	return store.NotBefore(now, job.UpdatedAt)
}

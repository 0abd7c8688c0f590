// Package runs keeps one ledger for every attempt of anything. A run is opened
// when an attempt starts and ended once: the first end wins, and a late write
// changes nothing.
//
// A run of a job is opened by the claim and ended by whatever ends the claim,
// in the same transaction, so a job has at most one running run (the unique
// index runs_running_job holds that).
//
// A run of a connection has a lease of its own, which its runner renews. It is
// named together with its generation, a number that each start of the connection
// raises: what an older generation writes changes nothing. A connection has at most
// one running run (runs_running_connection).
//
// What a person sees is not the recorded status alone: a running run is in
// progress only while a lease stands behind it. Shown is the one place where
// that is decided.
package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

// Grace is how long past its end a lease still counts: the reaper waits as
// long before it puts a job back.
const Grace = 5 * time.Second

// MaxLease is the longest lease that can be asked for.
const MaxLease = 24 * time.Hour

// DefaultLease is the lease of a run of a connection unless its runner says
// otherwise, in seconds.
const DefaultLease = 60

func leaseEnd(now coltype.Time, seconds int64) coltype.Time {
	return now.Add(time.Duration(seconds) * time.Second)
}

// LatestEnd is the latest end of a lease that was taken or renewed by now. One that
// ends later was written under a clock that was wrong, or by hand: it counts as
// ended, or its job would be held for as long as that.
func LatestEnd(now coltype.Time) coltype.Time { return now.Add(MaxLease + store.Apart) }

// The recorded statuses (constraint runs_status_check) and the one that is
// only shown.
const (
	Running           = "running"
	Succeeded         = "succeeded"
	SucceededWithGaps = "succeeded_with_gaps"
	Failed            = "failed"
	Cancelled         = "cancelled"
	Abandoned         = "abandoned"
	Skipped           = "skipped"

	InProgress = "in_progress"
)

// Statuses are the recorded ones.
var Statuses = []string{Running, Succeeded, SucceededWithGaps, Failed, Cancelled, Abandoned, Skipped}

// Ends are those by which its runner may end a run of a connection.
var Ends = []string{Succeeded, SucceededWithGaps, Failed, Cancelled}

// Kinds are the kinds of a run (constraint runs_kind_check).
var Kinds = append([]string{KindJob}, ConnectionKinds...)

// ConnectionKinds are those of a run that somebody starts on a connection.
var ConnectionKinds = []string{"scheduled", "manual", "browser", "webhook"}

// Origins say how a run came into the ledger (constraint runs_origin_check).
var Origins = []string{"live", "backfill", "import"}

// KindJob is the kind of a run that is one attempt of a job.
const KindJob = "job"

// Why a run ended otherwise than by its own success or failure.
const (
	ReasonSnoozed      = "snoozed"
	ReasonReleased     = "released"
	ReasonLeaseExpired = "lease_expired"
	ReasonTimeout      = "timeout" // its time limit passed, and its worker had not reported
	ReasonRevoked      = "revoked" // its connection was
	ReasonDeleted      = "deleted" // its connection was
)

// Run is a run as it is read, with the lease of the job it works on, if any.
type Run = model.RunGetRow

// Shown is the status that people see: running with a live lease is
// in_progress; running without one has failed, until the reaper records it as
// abandoned.
func Shown(r Run, now coltype.Time) string {
	if r.Status != Running {
		return r.Status
	}
	if live(r, now) {
		return InProgress
	}
	return Failed
}

// live reports whether a lease stands behind a running run: its own, or that of
// its job, if that is still claimed. A claimed job's one running run is the one of
// its present lease.
func live(r Run, now coltype.Time) bool {
	if r.JobID == nil {
		return Live(r.LeaseExpiresAt, now)
	}
	return r.JobState != nil && *r.JobState == "claimed" && Live(r.JobLeaseExpiresAt, now)
}

// Live reports whether a lease that ends then still counts.
func Live(end, now coltype.Time) bool {
	return !end.Add(Grace).Before(now) && !end.After(LatestEnd(now))
}

// TokenHash is what the ledger keeps of a lease token: its SHA-256 in hex.
func TokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

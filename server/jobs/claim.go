package jobs

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
)

// ClaimIn asks for up to Limit due jobs of the kinds named.
type ClaimIn struct {
	OwnerID      string
	Worker       string
	Kinds        []string
	Limit        int64
	LeaseSeconds *int64 // nil: each kind's own
	Timeout      *int64 // seconds; nil: the kind's and the job's alone
	Turn         uint64 // counts claims: the kind asked first rotates with it
	Start        Start  // where to begin to look, see Floors
}

// ClaimedJob is a job that the caller now holds, and the run of this attempt.
type ClaimedJob struct {
	Job        model.Job
	RunID      string
	DeadlineAt coltype.Time // of the attempt; zero: none
}

// ClaimOut is what a claim took. Floors.Note and Fits.Note read the rest of it,
// once the transaction is committed.
type ClaimOut struct {
	Jobs []ClaimedJob

	owner  string
	kinds  []string // asked for
	now    coltype.Time
	probes []probe // the seeks that decided
	anew   bool    // nothing was found above the floors, so they were taken off
	limit  int64   // of jobs
	bytes  int     // that they take of an answer
}

// Claim takes due jobs, the most urgent priority first; within one the kinds
// in rotated order, within a kind by run_at and id. Rows that another claim has
// locked are passed over, so an empty answer is true. Paused kinds are left
// out, unknown ones have no jobs. If more was found than an answer holds, the
// transaction has to be rolled back: the error says how many jobs fit, and is
// store.ErrRerun.
func Claim(ctx context.Context, q model.Querier, now coltype.Time, in ClaimIn) (ClaimOut, error) {
	probes, err := probes(ctx, q, in)
	if err != nil || len(probes) == 0 {
		return ClaimOut{}, err
	}
	out := ClaimOut{owner: in.OwnerID, kinds: in.Kinds, now: now, probes: probes, limit: in.Limit}
	taken, err := seek(ctx, q, now, in, probes)
	if err == nil && len(taken) == 0 && lookAtAll(probes) {
		out.anew = true
		taken, err = seek(ctx, q, now, in, probes)
	}
	if err != nil {
		return ClaimOut{}, fmt.Errorf("claim: %w", err)
	}
	err = out.take(ctx, q, in, taken)
	return out, err
}

// take makes the jobs that were found those of the claim, if an answer holds them.
func (c *ClaimOut) take(ctx context.Context, q model.Querier, in ClaimIn, taken []model.Job) error {
	if len(taken) == 0 {
		return nil
	}
	inOrder(taken, c.probes)
	n, bytes := fitting(taken)
	if n < len(taken) {
		return &tooMuch{fits: int64(n)}
	}
	c.Jobs, c.bytes = held(c.now, taken, c.probes), bytes
	return open(ctx, q, c.now, in, c.Jobs)
}

// seek claims what the probes find.
func seek(ctx context.Context, q model.Querier, now coltype.Time, in ClaimIn, probes []probe) ([]model.Job, error) {
	text, err := json.Marshal(probes)
	if err != nil {
		return nil, err
	}
	return q.JobClaim(ctx, model.JobClaimParams{
		OwnerID: in.OwnerID, Worker: in.Worker, Now: now, Max: in.Limit,
		Probes: string(text), Nonce: rand.Text(),
	})
}

// probe is one element of JobClaim's @probes: one seek into the index jobs_claim.
type probe struct {
	Kind         string `json:"kind"`
	Priority     int64  `json:"priority"`
	LeaseSeconds int64  `json:"lease_seconds"`
	Floor        int64  `json:"floor"` // the least run_at, in microseconds

	timeout *int64 // of kind and claim; the lease is not longer
}

// all reports whether the probe sees everything.
func (p probe) all() bool { return p.Floor == lowest.UnixMicro() }

// lookAtAll takes the floors off, and reports whether there were any.
func lookAtAll(probes []probe) (changed bool) {
	for i, p := range probes {
		changed = changed || !p.all()
		probes[i].Floor = lowest.UnixMicro()
	}
	return changed
}

// probes are the seeks of a claim, in the order to be served.
func probes(ctx context.Context, q model.Reader, in ClaimIn) ([]probe, error) {
	kinds, err := kindsByName(ctx, q, in.OwnerID, in.Kinds)
	if err != nil {
		return nil, err
	}
	var out []probe
	for priority := int64(1); priority <= lowestPriority; priority++ {
		for i := range in.Kinds {
			kind, known := kinds[in.Kinds[(uint64(i)+in.Turn)%uint64(len(in.Kinds))]]
			if !known || !kind.PausedAt.IsZero() {
				continue
			}
			lease := kind.LeaseSeconds
			if in.LeaseSeconds != nil {
				lease = *in.LeaseSeconds
			}
			timeout := shorter(in.Timeout, kind.TimeoutSeconds)
			lease = *shorter(&lease, timeout)
			floor := in.Start.from(kind.Name, priority).UnixMicro()
			out = append(out, probe{Kind: kind.Name, Priority: priority, LeaseSeconds: lease, Floor: floor, timeout: timeout})
		}
	}
	return out, nil
}

// inOrder sorts claimed jobs as they were served; RETURNING has no order.
func inOrder(taken []model.Job, probes []probe) {
	rank := map[string]int{}
	for i, p := range probes {
		rank[fmt.Sprint(p.Priority, p.Kind)] = i
	}
	slices.SortFunc(taken, func(a, b model.Job) int {
		return cmp.Or(
			cmp.Compare(rank[fmt.Sprint(a.Priority, a.Kind)], rank[fmt.Sprint(b.Priority, b.Kind)]),
			a.RunAt.Compare(b.RunAt.Time),
			cmp.Compare(a.ID, b.ID),
		)
	})
}

// held are the claimed jobs with the deadlines of their attempts, which count
// from now.
func held(now coltype.Time, taken []model.Job, probes []probe) []ClaimedJob {
	limits := map[string]*int64{}
	for _, p := range probes {
		limits[p.Kind] = p.timeout
	}
	out := make([]ClaimedJob, len(taken))
	for i, job := range taken {
		out[i] = ClaimedJob{Job: job, DeadlineAt: deadline(now, shorter(limits[job.Kind], job.TimeoutSeconds))}
	}
	return out
}

// open opens the run of each claimed job.
func open(ctx context.Context, q model.Querier, now coltype.Time, in ClaimIn, claimed []ClaimedJob) error {
	attempts := make([]runs.Attempt, len(claimed))
	for i, c := range claimed {
		attempts[i] = runs.Attempt{
			JobID: c.Job.ID, Attempt: c.Job.Attempt, LeaseToken: deref(c.Job.LeaseToken), DeadlineAt: c.DeadlineAt,
		}
	}
	ids, err := runs.Open(ctx, q, now, in.OwnerID, in.Worker, attempts)
	if err != nil {
		return err
	}
	for i := range claimed {
		claimed[i].RunID = ids[i]
	}
	return nil
}

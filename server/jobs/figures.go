package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/metrics"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// kindsPage is how many rows of job_kinds a look reads at a time. For each of them
// and each priority it seeks the first due job. Where it finds one it counts: up to
// metrics.MaxDue, and up to metrics.MaxDueAll in sum.
const kindsPage = 250

// FiguresLoop is the pass that measures the queue, in one replica at a time, and
// gives the result to hand.
func FiguresLoop(hand func(metrics.Queue)) control.Loop {
	measure := func(ctx context.Context, s *store.Store) (int, error) {
		now, err := s.Time(ctx)
		if err != nil {
			return 0, err
		}
		found, err := Measure(ctx, s, now)
		if err != nil {
			return 0, err
		}
		hand(found)
		return len(found.Kinds), nil
	}
	return control.Loop{Name: metrics.QueueLease, Every: metrics.QueueEvery, Run: measure, Lease: true}
}

// Measure reads the backlog of every kind, of all owners together.
func Measure(ctx context.Context, q model.Reader, now coltype.Time) (metrics.Queue, error) {
	b := backlog{now: now, left: metrics.MaxDueAll, kinds: map[string]metrics.KindBacklog{}}
	cut, err := b.walk(ctx, q)
	if err != nil {
		return metrics.Queue{}, err
	}
	late, err := overdue(ctx, q, now)
	return metrics.Queue{Kinds: b.kinds, Cut: cut, Overdue: late}, err
}

// backlog sums up what is due by kind.
type backlog struct {
	now   coltype.Time
	left  int64 // rows that may still be counted
	kinds map[string]metrics.KindBacklog
}

// walk adds page after page of kinds; cut is true if there are more than it
// may read.
func (b *backlog) walk(ctx context.Context, q model.Reader) (cut bool, err error) {
	after := model.KindWalkParams{Max: kindsPage}
	for walked := 0; ; {
		page, err := q.KindWalk(ctx, after)
		if err != nil {
			return false, fmt.Errorf("list the kinds of all owners: %w", err)
		}
		if err := b.add(ctx, q, page); err != nil {
			return false, err
		}
		if len(page) < kindsPage {
			return false, nil
		}
		if walked += len(page); walked >= metrics.MaxKinds {
			return true, nil
		}
		after.AfterOwnerID, after.AfterName = page[len(page)-1].OwnerID, page[len(page)-1].Name
	}
}

// dueProbe is one seek into the index jobs_claim.
type dueProbe struct {
	OwnerID  string `json:"owner_id"`
	Kind     string `json:"kind"`
	Priority int64  `json:"priority"`
}

func (b *backlog) add(ctx context.Context, q model.Reader, page []model.KindWalkRow) error {
	if len(page) == 0 {
		return nil // no owner yet, or the page before was the last, and full
	}
	var all []dueProbe
	for _, k := range page {
		kind, known := b.kinds[k.Name]
		if !known || k.CreatedAt.Before(kind.Registered) {
			kind.Registered = k.CreatedAt
		}
		b.kinds[k.Name] = kind
		for priority := int64(1); priority <= lowestPriority; priority++ {
			all = append(all, dueProbe{k.OwnerID, k.Name, priority})
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	rows, err := q.JobListFirstDue(ctx, model.JobListFirstDueParams{Probes: string(text), Now: b.now})
	if err != nil {
		return fmt.Errorf("seek the oldest due jobs: %w", err)
	}
	var due []dueProbe
	for _, r := range rows {
		due = append(due, dueProbe{r.OwnerID, r.Kind, r.Priority})
		b.found(r.Kind, metrics.Backlog{Oldest: b.now.Sub(r.RunAt)})
	}
	return b.count(ctx, q, due)
}

// count counts the due jobs of probes that have some.
func (b *backlog) count(ctx context.Context, q model.Reader, due []dueProbe) error {
	if len(due) == 0 {
		return nil
	}
	text, err := json.Marshal(due)
	if err != nil {
		return err
	}
	most := min(metrics.MaxDue, max(1, b.left/int64(len(due))))
	rows, err := q.JobCountDue(ctx, model.JobCountDueParams{Now: b.now, Max: most, Probes: string(text)})
	if err != nil {
		return fmt.Errorf("count the due jobs: %w", err)
	}
	for _, r := range rows {
		b.left -= r.Due
		b.found(r.Kind, metrics.Backlog{Count: r.Due})
	}
	return nil
}

func (b *backlog) found(kind string, more metrics.Backlog) {
	k := b.kinds[kind]
	k.Due = k.Due.Plus(more)
	b.kinds[kind] = k
}

// overdue counts the leases that ran out and that the reaper has not taken back,
// and says how long ago the oldest of them did.
func overdue(ctx context.Context, q model.Reader, now coltype.Time) (b metrics.Backlog, err error) {
	rows, err := q.JobListOverdue(ctx, model.JobListOverdueParams{Cutoff: now, Latest: runs.LatestEnd(now), Max: metrics.MaxOverdue})
	if err != nil {
		return b, fmt.Errorf("list overdue leases: %w", err)
	}
	for _, r := range rows {
		b = b.Plus(metrics.Backlog{Count: 1, Oldest: max(0, now.Sub(r.LeaseExpiresAt))}) // a broken lease has no age
	}
	return b, nil
}

// OldestOverdue is the time since the oldest overdue lease ran out, one that the
// reaper has not taken back; false if there is none. It looks at the first
// metrics.MaxOverdue of them.
func OldestOverdue(ctx context.Context, q model.Reader, now coltype.Time) (time.Duration, bool, error) {
	late, err := overdue(ctx, q, now)
	return late.Oldest, late.Count > 0, err
}

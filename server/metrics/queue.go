package metrics

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

const (
	queueLoop = "queue-figures" // also the lease under which one replica looks

	// measureEvery is the time between two looks at the queue, and figuresLast
	// how long one counts when those after it fail.
	measureEvery = 15 * time.Second
	figuresLast  = 3 * measureEvery

	// A look reads up to maxKinds rows of job_kinds in pages of kindsPage, and
	// seeks the first due job of each and priority. Where there is one it counts
	// up to countCap, less if that would be more than countAll in sum.
	maxKinds   = 10_000
	kindsPage  = 250
	countCap   = 1_000
	countAll   = 100_000
	maxOverdue = 1_000

	// labelled is how many kinds have a label of their own: those that were
	// registered first, so that whoever makes up names adds to other.
	labelled = 100
	other    = "other"
)

var (
	queueDue = desc("queue_due_jobs", fmt.Sprintf("Jobs that could be claimed, exact up to %d per owner, kind and priority, and up to %d in sum. "+
		"Exported by the replica that holds the lease "+queueLoop+".", countCap, countAll), "kind")
	queueOldest    = desc("queue_oldest_due_seconds", "How long ago the oldest of them became due; 0 without any.", "kind")
	queueCut       = desc("queue_kinds_truncated", fmt.Sprintf("1 if there are more than %d kinds of all owners, so that some were not looked at.", maxKinds))
	overdueLeases  = desc("queue_overdue_leases", fmt.Sprintf("Leases that ran out and were not yet taken back, up to %d.", maxOverdue))
	overdueSeconds = desc("queue_oldest_overdue_lease_seconds", "How long ago the oldest of them ran out; 0 without any.")
)

// figure is the backlog of a kind.
type figure struct {
	due    int64
	oldest time.Duration // since the first became due
}

func (f figure) plus(g figure) figure {
	return figure{f.due + g.due, max(f.oldest, g.oldest)}
}

// look is what one look at the queue found.
type look struct {
	kinds   map[string]figure
	cut     bool
	overdue figure
}

// queue collects the last look at the queue.
type queue struct {
	now  func() time.Time
	held func() bool // the lease, by this replica

	mu    sync.Mutex
	last  look
	ended time.Time // of the last look; zero before the first
}

func (*queue) Describe(ch chan<- *prometheus.Desc) {
	describe(ch, queueDue, queueOldest, queueCut, overdueLeases, overdueSeconds)
}

// Collect sends nothing where another replica looks, and nothing that is old.
func (c *queue) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.held() || c.ended.IsZero() || c.now().Sub(c.ended) > figuresLast {
		return
	}
	for kind, f := range c.last.kinds {
		gauge(ch, queueDue, float64(f.due), kind)
		gauge(ch, queueOldest, f.oldest.Seconds(), kind)
	}
	gauge(ch, queueCut, number(c.last.cut))
	gauge(ch, overdueLeases, float64(c.last.overdue.due))
	gauge(ch, overdueSeconds, c.last.overdue.oldest.Seconds())
}

// measure is a pass: it looks at the queue and keeps what it found.
func (c *queue) measure(ctx context.Context, s *store.Store) (int, error) {
	now, err := s.Time(ctx)
	if err != nil {
		return 0, err
	}
	l, err := lookAt(ctx, s, now)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.ended = l, c.now()
	return len(l.kinds), nil
}

// lookAt reads the backlog of every kind, of all owners together.
func lookAt(ctx context.Context, q model.Reader, now coltype.Time) (look, error) {
	b := backlog{now: now, left: countAll, first: map[string]coltype.Time{}, kinds: map[string]figure{}}
	var l look
	after := model.KindWalkParams{Max: kindsPage}
	for walked := 0; ; {
		page, err := q.KindWalk(ctx, after)
		if err != nil {
			return look{}, fmt.Errorf("list the kinds of all owners: %w", err)
		}
		if err := b.add(ctx, q, page); err != nil {
			return look{}, err
		}
		if len(page) < kindsPage {
			break
		}
		if walked += len(page); walked >= maxKinds {
			l.cut = true
			break
		}
		after.AfterOwnerID, after.AfterName = page[len(page)-1].OwnerID, page[len(page)-1].Name
	}
	var err error
	l.kinds = b.merged()
	l.overdue, err = overdue(ctx, q, now)
	return l, err
}

// backlog sums up what is due by kind.
type backlog struct {
	now   coltype.Time
	left  int64                   // rows that may still be counted
	first map[string]coltype.Time // by kind: when an owner first registered it
	kinds map[string]figure
}

// probe is one seek into the index jobs_claim.
type probe struct {
	OwnerID  string `json:"owner_id"`
	Kind     string `json:"kind"`
	Priority int64  `json:"priority"`
}

// priorities of a job: 1 to this.
const lowestPriority = 4

func (b *backlog) add(ctx context.Context, q model.Reader, page []model.KindWalkRow) error {
	if len(page) == 0 {
		return nil // no owner yet, or the page before was the last, and full
	}
	var all []probe
	for _, k := range page {
		if at, known := b.first[k.Name]; !known || k.CreatedAt.Before(at) {
			b.first[k.Name] = k.CreatedAt
		}
		for priority := int64(1); priority <= lowestPriority; priority++ {
			all = append(all, probe{k.OwnerID, k.Name, priority})
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
	var due []probe
	for _, r := range rows {
		due = append(due, probe{r.OwnerID, r.Kind, r.Priority})
		b.kinds[r.Kind] = b.kinds[r.Kind].plus(figure{0, b.now.Sub(r.RunAt)})
	}
	return b.count(ctx, q, due)
}

// count counts the due jobs of probes that have some.
func (b *backlog) count(ctx context.Context, q model.Reader, due []probe) error {
	if len(due) == 0 {
		return nil
	}
	text, err := json.Marshal(due)
	if err != nil {
		return err
	}
	most := min(countCap, max(1, b.left/int64(len(due))))
	rows, err := q.JobCountDue(ctx, model.JobCountDueParams{Now: b.now, Max: most, Probes: string(text)})
	if err != nil {
		return fmt.Errorf("count the due jobs: %w", err)
	}
	for _, r := range rows {
		b.left -= r.Due
		b.kinds[r.Kind] = b.kinds[r.Kind].plus(figure{due: r.Due})
	}
	return nil
}

// merged has a figure for each of the kinds registered first, and one for the
// rest together.
func (b *backlog) merged() map[string]figure {
	names := make([]string, 0, len(b.first))
	for name := range b.first {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(b.first[x].Compare(b.first[y].Time), cmp.Compare(x, y))
	})
	out := map[string]figure{}
	for i, name := range names {
		label := name
		if len(names) > labelled && i >= labelled-1 {
			label = other
		}
		out[label] = out[label].plus(b.kinds[name])
	}
	return out
}

// overdue is how many leases ran out, and how long ago the oldest did.
func overdue(ctx context.Context, q model.Reader, now coltype.Time) (f figure, err error) {
	rows, err := q.JobListOverdue(ctx, model.JobListOverdueParams{Cutoff: now, Max: maxOverdue})
	if err != nil {
		return f, fmt.Errorf("list overdue leases: %w", err)
	}
	for _, r := range rows {
		f = f.plus(figure{1, now.Sub(r.LeaseExpiresAt)})
	}
	return f, nil
}

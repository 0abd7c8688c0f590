package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stint-run/stint/schema/coltype"
)

// QueueLease is the lease under which one replica at a time measures the queue,
// and QueueEvery the time between two looks. When looks fail, the figures of the
// last one that did not are exported for three times as long.
const (
	QueueLease = "queue-figures"
	QueueEvery = 15 * time.Second

	figuresLast = 3 * QueueEvery
)

// The bounds of a look, which the help texts name: whoever measures keeps them.
const (
	MaxKinds   = 10_000  // rows of job_kinds that are read
	MaxDue     = 1_000   // due jobs that are counted per owner, kind and priority
	MaxDueAll  = 100_000 // the same in sum
	MaxOverdue = 1_000   // leases that ran out
)

// labelled is how many kinds have a label of their own: those that were
// registered first, so that whoever makes up names adds to other.
const (
	labelled = 100
	other    = "other"
)

var (
	queueDue = desc("queue_due_jobs", fmt.Sprintf("Jobs that could be claimed, exact up to %d per owner, kind and priority, and up to %d in sum. "+
		"Exported by the replica that holds the lease "+QueueLease+".", MaxDue, MaxDueAll), "kind")
	queueOldest    = desc("queue_oldest_due_seconds", "How long ago the oldest of them became due; 0 without any.", "kind")
	queueCut       = desc("queue_kinds_truncated", fmt.Sprintf("1 if there are more than %d kinds of all owners, so that some were not looked at.", MaxKinds))
	overdueLeases  = desc("queue_overdue_leases", fmt.Sprintf("Leases that ran out and were not yet taken back, up to %d.", MaxOverdue))
	overdueSeconds = desc("queue_oldest_overdue_lease_seconds", "How long ago the oldest of them ran out; 0 without any.")
)

// Backlog is how many rows wait, and for how long the oldest does.
type Backlog struct {
	Count  int64
	Oldest time.Duration
}

// Plus is both together.
func (b Backlog) Plus(c Backlog) Backlog {
	return Backlog{b.Count + c.Count, max(b.Oldest, c.Oldest)}
}

// KindBacklog is what is due of a kind.
type KindBacklog struct {
	Registered coltype.Time // by the first owner who did
	Due        Backlog
}

// Queue is what one look at the queue found, of all owners together.
type Queue struct {
	Kinds   map[string]KindBacklog
	Cut     bool // there are more than MaxKinds
	Overdue Backlog
}

// labels has the backlog of each of the kinds that were registered first, and
// that of the rest together.
func (q Queue) labels() map[string]Backlog {
	names := make([]string, 0, len(q.Kinds))
	for name := range q.Kinds {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(q.Kinds[x].Registered.Compare(q.Kinds[y].Registered.Time), cmp.Compare(x, y))
	})
	out := map[string]Backlog{}
	for i, name := range names {
		label := name
		if len(names) > labelled && i >= labelled-1 {
			label = other
		}
		out[label] = out[label].Plus(q.Kinds[name].Due)
	}
	return out
}

// queue collects the last look at the queue.
type queue struct {
	now  func() time.Time
	held func() bool // the lease, by this replica

	mu      sync.Mutex
	kinds   map[string]Backlog // by label
	cut     bool
	overdue Backlog
	ended   time.Time // of the last look; zero before the first
}

// SetQueue exports what a look found, from now on.
func (m *Metrics) SetQueue(found Queue) {
	kinds := found.labels()
	c := m.queue
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kinds, c.cut, c.overdue, c.ended = kinds, found.Cut, found.Overdue, c.now()
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
	for kind, b := range c.kinds {
		gauge(ch, queueDue, float64(b.Count), kind)
		gauge(ch, queueOldest, b.Oldest.Seconds(), kind)
	}
	gauge(ch, queueCut, number(c.cut))
	gauge(ch, overdueLeases, float64(c.overdue.Count))
	gauge(ch, overdueSeconds, c.overdue.Oldest.Seconds())
}

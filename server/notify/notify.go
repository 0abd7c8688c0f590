// Package notify carries hints between the replicas of a database: something of
// a topic has changed, look for yourself. A hint may be lost, come twice, or say
// too much; who needs to know looks now and then all the same.
//
// A part that has a topic says once what to do about a hint,
//
//	bus.On("jobs", func(h notify.Hint) { … })
//
// and sends one, after its commit, with bus.Send. A hint reaches the other
// replicas only: this one knows already.
//
// Hints are sent by NOTIFY, in a statement of their own on a connection of the
// pool, and heard on one connection of the process that does nothing else. This
// works on PostgreSQL alone. A nil *Bus, that of a process which has no other
// beside it, takes hints and drops them.
package notify

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-run/stint/server/store"
)

// Hint says that something of a topic has changed.
type Hint struct {
	Topic string
	Owner string   // "" means every owner
	Kinds []string // without Kinds and IDs: everything of the owner
	IDs   []string

	at int64 // microseconds on the sender's clock, which has reached the change
}

// The states of a bus.
const (
	OK      = "ok"      // what others send arrives
	Polling = "polling" // it does not: who waits finds it by looking
)

// Waits are the times of a bus. A zero member takes the product's value.
type Waits struct {
	// Gap is the least time between two statements that send, so that a burst is
	// a few of them: 2 ms.
	Gap time.Duration
	// Probe is the time between two notifications to itself, by which a bus sees
	// that its line is alive: 15 s.
	Probe time.Duration
	// Echo is how long one may take to come back: 5 s.
	Echo time.Duration
	// Retry is the longest pause before a lost line is opened again: 30 s. It
	// begins at 250 ms and doubles.
	Retry time.Duration
	// Silent is the pause after a line on which nothing ever came back: 1 min.
	Silent time.Duration
	// Flush bounds the last sending of a bus that ends: 1 s.
	Flush time.Duration
}

// Bus sends and hears hints. It is made by New.
type Bus struct {
	store  *store.Store
	log    *slog.Logger
	waits  Waits
	self   string                // names this process in what it sends
	topics map[string]func(Hint) // complete before Run
	out    outbox

	listening atomic.Bool
	others    others

	sendFails bool // the last sending failed; of the sender alone
	bad       int  // notifications that were ignored; of the hearer alone

	early sync.WaitGroup // hints that wait for this replica's clock

	told   string // how the line stands, as the log has it
	toldMu sync.Mutex

	sent, received, failed atomic.Int64
}

// New is a bus on s; nil if no other process can serve its database. s may be
// nil. The bus works while Run runs.
func New(s *store.Store, log *slog.Logger, w Waits) *Bus {
	if s == nil || !s.Notifies() {
		return nil
	}
	return &Bus{
		store: s, log: log, waits: w.orProduct(), self: rand.Text(), topics: map[string]func(Hint){},
		out: newOutbox(),
	}
}

// On says what to do about hints of a topic. fn may be called by several goroutines
// at once, and must not block. This replica's clock has reached the change then. fn
// also gets a hint without an owner, when this replica may have missed others. Call
// On before Run.
func (b *Bus) On(topic string, fn func(Hint)) {
	if b != nil {
		b.topics[topic] = fn
	}
}

// Send tells the other replicas, soon. It waits for nothing; call it after the
// commit.
func (b *Bus) Send(h Hint) {
	if b != nil && b.needed() {
		if now, err := b.store.TxTime(); err == nil {
			h.at = now.UnixMicro()
		}
		b.out.add(h)
	}
}

// Run sends and hears until ctx ends; then it sends what is left.
func (b *Bus) Run(ctx context.Context) {
	if b == nil {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { b.sendAll(ctx) })
	wg.Go(func() { b.hearAll(ctx) })
	wg.Wait()
}

// State is OK or Polling; "" for a nil bus.
func (b *Bus) State() string {
	switch {
	case b == nil:
		return ""
	case b.listening.Load():
		return OK
	}
	return Polling
}

// Figures are what a bus has done since it began.
type Figures struct {
	Sent     int64 // notifications with hints
	Received int64 // those of other replicas
	Failed   int64 // statements that failed to send some
}

// Figures are those up to now. The bus is not nil.
func (b *Bus) Figures() Figures {
	return Figures{Sent: b.sent.Load(), Received: b.received.Load(), Failed: b.failed.Load()}
}

func (w Waits) orProduct() Waits {
	return Waits{
		Gap:    cmp.Or(w.Gap, 2*time.Millisecond),
		Probe:  cmp.Or(w.Probe, 15*time.Second),
		Echo:   cmp.Or(w.Echo, 5*time.Second),
		Retry:  cmp.Or(w.Retry, 30*time.Second),
		Silent: cmp.Or(w.Silent, time.Minute),
		Flush:  cmp.Or(w.Flush, time.Second),
	}
}

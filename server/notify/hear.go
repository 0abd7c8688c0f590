package notify

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"sync"
	"time"
)

// probe is the topic of notifications to oneself. Those of others tell that they
// are there.
const probe = "probe"

// firstRetry is the first pause before a lost line is opened again.
const firstRetry = 250 * time.Millisecond

var (
	errSilent = errors.New("no notification came back")
	errFrozen = errors.New("notifications came back, and do so no more")
)

// hearAll hears on one line after the other until ctx ends.
func (b *Bus) hearAll(ctx context.Context) {
	defer b.early.Wait()
	pause := firstRetry
	for ctx.Err() == nil {
		err := b.hearLine(ctx)
		if b.listening.Swap(false) {
			pause = firstRetry
		}
		if ctx.Err() != nil {
			return
		}
		b.tell(err)
		if errors.Is(err, errSilent) {
			sleep(ctx, b.waits.Silent)
			continue
		}
		sleep(ctx, jittered(pause))
		pause = min(2*pause, b.waits.Retry)
	}
}

// hearLine hears on one line for as long as it lasts, and says why it ended.
func (b *Bus) hearLine(ctx context.Context) error {
	line, err := b.store.Listen(ctx)
	if err != nil {
		return err
	}
	defer line.Close()
	lasts, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	echo := make(chan string, 1)
	wg.Go(func() { cancel(b.watch(lasts, echo)) })
	for {
		text, err := line.Next(lasts)
		if lasts.Err() != nil {
			return context.Cause(lasts)
		}
		if err != nil {
			return err
		}
		b.hear(ctx, text, echo)
	}
}

// watch sees by probes that the line works, and returns when it does not, or
// when ctx ends. A probe that cannot be sent says nothing about the line.
func (b *Bus) watch(ctx context.Context, echo <-chan string) error {
	for {
		err := b.probe(ctx, echo)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			b.works()
			b.others.passed()
			sleep(ctx, jittered(b.waits.Probe))
		case !errors.Is(err, errSilent):
			sleep(ctx, b.waits.Echo)
		case b.listening.Load():
			return errFrozen
		default:
			return err
		}
	}
}

// probe sends a notification to this process, by the pool as all are sent, and
// waits for it. Sent on the line itself it would come back even through a
// transaction pooler, which gives the line's connection to somebody else next.
func (b *Bus) probe(ctx context.Context, echo <-chan string) error {
	id := rand.Text()
	text, err := encode(Hint{Topic: probe, IDs: []string{id}}, b.self)
	if err != nil {
		return err
	}
	if err := b.store.Notify(ctx, []string{text}); err != nil {
		return err
	}
	timer := time.NewTimer(b.waits.Echo)
	defer timer.Stop()
	for {
		select {
		case got := <-echo:
			if got == id {
				return nil
			}
		case <-timer.C:
			return errSilent
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// works notes that the line does. What was sent while it did not was missed.
func (b *Bus) works() {
	if b.listening.Swap(true) {
		return
	}
	b.tell(nil)
	b.others.seen()
	for _, fn := range b.topics {
		fn(Hint{})
	}
}

// hear takes one notification. echo has room for one id, the latest of a probe, and
// hear alone sends to it.
func (b *Bus) hear(ctx context.Context, text string, echo chan string) {
	p, err := decode(text)
	if err != nil {
		b.ignore(len(text), err)
		return
	}
	if p.From == b.self {
		if p.Topic == probe && len(p.IDs) == 1 {
			select {
			case <-echo: // of a probe that was sent twice, or given up
			default:
			}
			echo <- p.IDs[0]
		}
		return
	}
	b.others.seen()
	if fn := b.topics[p.Topic]; fn != nil {
		b.received.Add(1)
		b.hand(ctx, p, fn)
	}
}

// ahead is by how much another replica's clock may run before this one's, or be
// believed to.
const ahead = time.Second

// hand hands a hint on when the clock of this replica has reached the change: to
// one that is some milliseconds behind, a new job would not be due yet, and the
// claim that was woken would find nothing. Nothing is handed on once ctx has ended.
func (b *Bus) hand(ctx context.Context, p payload, fn func(Hint)) {
	now, err := b.store.TxTime()
	early := time.UnixMicro(p.At).Sub(now.Time)
	if err != nil || early <= 0 || early > ahead {
		fn(p.hint())
		return
	}
	b.early.Go(func() {
		sleep(ctx, early)
		if ctx.Err() == nil {
			fn(p.hint())
		}
	})
}

// ignore logs notifications that are none of ours: the first, the second, the
// fourth and so on, so that nobody fills the log with them.
func (b *Bus) ignore(bytes int, why error) {
	if b.bad++; b.bad&(b.bad-1) == 0 {
		b.log.Warn("a notification was ignored", "error", why, "bytes", bytes, "ignored", b.bad)
	}
}

// tell logs how the line stands, once for each change.
func (b *Bus) tell(err error) {
	now := OK
	switch {
	case errors.Is(err, errSilent):
		now = "silent"
	case err != nil:
		now = "lost"
	}
	b.toldMu.Lock()
	defer b.toldMu.Unlock()
	if now == b.told {
		return
	}
	b.told = now
	switch now {
	case OK:
		b.log.Info("notifications of other replicas arrive")
	case "silent":
		b.log.Warn("no notification comes back, so claims find the work of other replicas by polling: "+
			"--db and --db-listen (STINT_DB_LISTEN; default --db) have to lead to the same database, --db-listen past a transaction pooler", "again_in", b.waits.Silent.String())
	default:
		b.log.Warn("the listening connection is lost, so claims find the work of other replicas by polling", "error", err)
	}
}

// jittered is d ± 10 %.
func jittered(d time.Duration) time.Duration {
	return d - d/10 + mathrand.N(d/5+1)
}

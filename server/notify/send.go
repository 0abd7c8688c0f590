package notify

import (
	"context"
	"time"
)

// sendAll sends what waits, whenever something does, until ctx ends. The first
// hint leaves at once; those that come while it is on its way, or within the gap
// after it, go together. What waits at the end is sent within Flush.
func (b *Bus) sendAll(ctx context.Context) {
	sending, cancel := lingering(ctx, b.waits.Flush)
	defer cancel()
	for ctx.Err() == nil {
		select {
		case <-b.out.ready:
			b.send(sending, b.out.take())
			sleep(ctx, b.waits.Gap)
		case <-ctx.Done():
		}
	}
	b.send(sending, b.out.take())
}

// lingering is a context that ends d after ctx does.
func lingering(ctx context.Context, d time.Duration) (context.Context, func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		sleep(longer, d)
		cancel()
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// send sends hints once. Those that cannot be sent are dropped: the others find
// out by looking.
func (b *Bus) send(ctx context.Context, hints []Hint) {
	texts := make([]string, 0, len(hints))
	for _, h := range hints {
		text, err := encode(h, b.self)
		if err != nil {
			b.log.Error("a notification was dropped", "error", err)
			continue
		}
		texts = append(texts, text)
	}
	if len(texts) > 0 {
		b.note(len(texts), b.store.Notify(ctx, texts))
	}
}

// note counts what was sent, and logs a failure when it is the first in a row.
func (b *Bus) note(n int, err error) {
	if err == nil {
		b.sent.Add(int64(n))
		if b.sendFails {
			b.log.Info("notifications are sent again")
		}
		b.sendFails = false
		return
	}
	b.failed.Add(1)
	if !b.sendFails {
		b.log.Warn("notifications are not sent: other replicas find this one's work by polling", "error", err)
	}
	b.sendFails = true
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

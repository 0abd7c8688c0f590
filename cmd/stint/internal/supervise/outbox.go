package supervise

import (
	"sync"
	"time"
)

const (
	// outboxBytes is how much output waits for the worker.
	outboxBytes = 1 << 20
	// stalled is how long a worker may take nothing before output is dropped: a
	// busy one slows its command down, a frozen one does not stop it.
	stalled = time.Second
)

// outbox is what a supervisor has to tell its worker: in order, but for urgent
// messages, which pass outputs by.
type outbox struct {
	link *link

	mu      sync.Mutex
	changed chan struct{} // closed and renewed when something is sent or put in
	urgent  []message
	queue   []message
	bytes   int       // of outputs in the queue
	moved   time.Time // when the worker took the last message
	dropped int64
	broken  bool // the worker is dead
}

func newOutbox(l *link) *outbox {
	b := &outbox{link: l, changed: make(chan struct{}), moved: time.Now()}
	go b.run()
	return b
}

// run sends what is there, for as long as the worker lives.
func (b *outbox) run() {
	for {
		m, changed, ok := b.next()
		if !ok {
			<-changed
			continue
		}
		err := b.link.send(m, 0)
		b.mu.Lock()
		b.moved, b.broken = time.Now(), err != nil
		if b.broken {
			b.urgent, b.queue, b.bytes = nil, nil, 0
		}
		b.wake()
		b.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// next takes the message that is to be sent now; changed tells when to look again.
func (b *outbox) next() (m message, changed <-chan struct{}, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.urgent) > 0:
		m, b.urgent = b.urgent[0], b.urgent[1:]
	case len(b.queue) > 0:
		m, b.queue = b.queue[0], b.queue[1:]
		b.bytes -= outputBytes(m)
	default:
		return message{}, b.changed, false
	}
	return m, b.changed, true
}

// wake must be called under the lock.
func (b *outbox) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// tell sends a message before outputs that wait.
func (b *outbox) tell(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.broken {
		b.urgent = append(b.urgent, m)
		b.wake()
	}
}

// add sends a message behind all outputs.
func (b *outbox) add(m message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.broken {
		b.queue = append(b.queue, m)
		b.wake()
	}
}

// output forwards what the command printed. It waits for room as long as the
// worker takes something now and then, and drops the oldest otherwise.
func (b *outbox) output(k kind, p []byte) {
	m := message{k, append([]byte(nil), p...)}
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.broken && b.bytes+len(p) > outboxBytes && time.Since(b.moved) < stalled {
		b.await()
	}
	if b.broken {
		return
	}
	for b.bytes+len(p) > outboxBytes {
		b.dropOldest()
	}
	if b.bytes == 0 && len(b.queue) == 0 {
		b.moved = time.Now() // there was nothing to take
	}
	b.queue = append(b.queue, m)
	b.bytes += len(p)
	b.wake()
}

// await waits without the lock for a change, or until the worker counts as stalled.
func (b *outbox) await() {
	changed := b.changed
	left := time.NewTimer(stalled - time.Since(b.moved))
	b.mu.Unlock()
	select {
	case <-changed:
	case <-left.C:
	}
	left.Stop()
	b.mu.Lock()
}

func (b *outbox) dropOldest() {
	for i, m := range b.queue {
		if n := outputBytes(m); n > 0 {
			copy(b.queue[1:], b.queue[:i]) // i is 0 but for what is no output
			b.queue = b.queue[1:]
			b.bytes -= n
			b.dropped += int64(n)
			return
		}
	}
}

// lost is how many bytes were dropped.
func (b *outbox) lost() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped
}

func outputBytes(m message) int {
	if m.kind == msgStdout || m.kind == msgStderr {
		return len(m.body)
	}
	return 0
}

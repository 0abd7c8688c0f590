package jobs

import "sync"

// Hub wakes the claims of this process that wait for work. A wake-up is a hint:
// who is woken claims again, and may find nothing. Work that another replica
// enqueued, or that becomes due, is found by the waiting claim's own polling.
type Hub struct {
	mu      sync.Mutex
	waiting map[topic]map[chan struct{}]bool
}

// topic is one kind of an owner.
type topic struct{ ownerID, kind string }

// NewHub is a hub without anybody waiting.
func NewHub() *Hub { return &Hub{waiting: map[topic]map[chan struct{}]bool{}} }

// Listen returns a channel that gets a value when work of one of the kinds may
// be there, and a function that ends the listening. Wake-ups coalesce.
func (h *Hub) Listen(ownerID string, kinds []string) (wake <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, kind := range kinds {
		t := topic{ownerID, kind}
		if h.waiting[t] == nil {
			h.waiting[t] = map[chan struct{}]bool{}
		}
		h.waiting[t][ch] = true
	}
	return ch, func() { h.forget(ownerID, kinds, ch) }
}

func (h *Hub) forget(ownerID string, kinds []string, ch chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, kind := range kinds {
		t := topic{ownerID, kind}
		delete(h.waiting[t], ch)
		if len(h.waiting[t]) == 0 {
			delete(h.waiting, t)
		}
	}
}

// Wake tells those who wait for the kinds that there may be work. Call it after
// the commit.
func (h *Hub) Wake(ownerID string, kinds ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, kind := range kinds {
		for ch := range h.waiting[topic{ownerID, kind}] {
			select {
			case ch <- struct{}{}:
			default: // woken already
			}
		}
	}
}

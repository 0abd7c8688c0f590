package jobs

import (
	"sync"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/notify"
)

// hintTopic is the topic of the hub's notifications; their kinds are kinds of job.
const hintTopic = "jobs"

// Hub wakes the claims that wait for work: those of this process at once, those
// of other replicas by a notification. A wake-up is a hint: who is woken claims
// again, and may find nothing. A notification that is lost, and work that becomes
// due, are found by the waiting claim's own polling.
type Hub struct {
	// PollEvery is how often a waiting claim looks for work that nobody woke it for.
	PollEvery time.Duration

	bus     *notify.Bus
	mu      sync.Mutex
	waiting map[topic]map[chan struct{}]bool
}

// topic is one kind of an owner.
type topic struct{ ownerID, kind string }

// NewHub is a hub without anybody waiting. The bus joins it to those of the other
// replicas; without any it is nil.
func NewHub(bus *notify.Bus) *Hub {
	h := &Hub{PollEvery: pollEvery, bus: bus, waiting: map[topic]map[chan struct{}]bool{}}
	bus.On(hintTopic, h.hear)
	return h
}

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

// Wake tells those who wait for the kinds, on every replica, that there may be
// work. Call it after the commit.
func (h *Hub) Wake(ownerID string, kinds ...string) {
	if len(kinds) == 0 {
		return
	}
	h.bus.Send(notify.Hint{Topic: hintTopic, Owner: ownerID, Kinds: kinds})
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, kind := range kinds {
		h.wake(topic{ownerID, kind})
	}
}

// WakeFor is Wake for what a change left claimable of the jobs that it changed.
func (h *Hub) WakeFor(changed ...model.Job) {
	kinds := map[string][]string{} // by owner
	for _, job := range changed {
		if leavesWork(job) {
			kinds[job.OwnerID] = append(kinds[job.OwnerID], job.Kind)
		}
	}
	for owner, of := range kinds {
		h.Wake(owner, of...)
	}
}

// leavesWork reports whether a job could be claimed at its last change, or a
// successor of it may be.
func leavesWork(job model.Job) bool {
	return job.State == Pending && !job.RunAt.After(job.UpdatedAt) || job.FollowedBy != nil
}

// hear wakes those of this process that another replica's hint is about.
func (h *Hub) hear(hint notify.Hint) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, kind := range hint.Kinds {
		h.wake(topic{hint.Owner, kind})
	}
	if len(hint.Kinds) > 0 {
		return
	}
	for t := range h.waiting {
		if hint.Owner == "" || hint.Owner == t.ownerID {
			h.wake(t)
		}
	}
}

// wake wakes who waits for a topic, under h.mu.
func (h *Hub) wake(t topic) {
	for ch := range h.waiting[t] {
		select {
		case ch <- struct{}{}:
		default: // woken already
		}
	}
}

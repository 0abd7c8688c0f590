package notify

import (
	"maps"
	"slices"
	"sync"
)

// Bounds of what waits to be sent. Beyond them a hint says more than it has to:
// all of the owner, or of every owner.
const (
	maxMembers = 100 // kinds and ids of an owner
	maxOwners  = 200 // owners of all topics
)

// outbox holds hints until they are sent, those of one owner and topic as one.
type outbox struct {
	ready chan struct{} // gets a value when there is something

	mu    sync.Mutex
	of    map[address]*members
	order []address // as they came
}

type address struct{ topic, owner string }

// members are what hints of an address named; nil sets mean all of it.
type members struct {
	kinds, ids map[string]bool
	at         int64 // the latest
}

func newOutbox() outbox {
	return outbox{ready: make(chan struct{}, 1), of: map[address]*members{}}
}

// add puts a hint to those that wait.
func (o *outbox) add(h Hint) {
	o.mu.Lock()
	o.merge(h)
	o.mu.Unlock()
	select {
	case o.ready <- struct{}{}:
	default: // it has one
	}
}

func (o *outbox) merge(h Hint) {
	at := address{h.Topic, h.Owner}
	if o.of[address{topic: h.Topic}] != nil {
		at.owner = "" // every owner is told already
	} else if h.Owner == "" || o.of[at] == nil && len(o.of) >= maxOwners {
		h.at = max(h.at, o.forget(h.Topic))
		at.owner = ""
	}
	if o.of[at] == nil {
		o.of[at], o.order = newMembers(at.owner == ""), append(o.order, at)
	}
	o.of[at].add(h)
}

// forget drops what waits of a topic, and returns its latest time.
func (o *outbox) forget(topic string) (latest int64) {
	o.order = slices.DeleteFunc(o.order, func(at address) bool {
		if at.topic != topic {
			return false
		}
		latest = max(latest, o.of[at].at)
		delete(o.of, at)
		return true
	})
	return latest
}

func newMembers(all bool) *members {
	if all {
		return &members{}
	}
	return &members{kinds: map[string]bool{}, ids: map[string]bool{}}
}

func (m *members) add(h Hint) {
	m.at = max(m.at, h.at)
	if m.kinds == nil {
		return // all are told already
	}
	for _, kind := range h.Kinds {
		m.kinds[kind] = true
	}
	for _, id := range h.IDs {
		m.ids[id] = true
	}
	none := len(h.Kinds)+len(h.IDs) == 0
	if none || len(m.kinds)+len(m.ids) > maxMembers {
		m.kinds, m.ids = nil, nil
	}
}

// take empties the outbox. What came first is first.
func (o *outbox) take() []Hint {
	o.mu.Lock()
	of, order := o.of, o.order
	o.of, o.order = map[address]*members{}, nil
	o.mu.Unlock()
	hints := make([]Hint, 0, len(order))
	for _, at := range order {
		m := of[at]
		hints = append(hints, Hint{
			Topic: at.topic, Owner: at.owner, at: m.at,
			Kinds: slices.Sorted(maps.Keys(m.kinds)), IDs: slices.Sorted(maps.Keys(m.ids)),
		})
	}
	return hints
}

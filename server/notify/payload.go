package notify

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/stint-run/stint/server/store"
)

// payload is the text of a notification. Topics and members that a replica does
// not know are ignored, so that builds with more of them may serve beside it.
type payload struct {
	Topic string   `json:"topic"`
	Owner string   `json:"owner"`           // "": every owner
	Kinds []string `json:"kinds,omitempty"` // neither kinds nor ids: all of the owner
	IDs   []string `json:"ids,omitempty"`
	At    int64    `json:"at"`   // microseconds on the clock of the one that sent it
	From  string   `json:"from"` // the process
}

// encode is the text of a hint. One that is too long for PostgreSQL means all of
// the owner.
func encode(h Hint, from string) (string, error) {
	p := payload{Topic: h.Topic, Owner: h.Owner, Kinds: h.Kinds, IDs: h.IDs, At: h.at, From: from}
	text, err := json.Marshal(p)
	if err == nil && len(text) > store.MaxNotification {
		p.Kinds, p.IDs = nil, nil
		text, err = json.Marshal(p)
	}
	if err == nil && len(text) > store.MaxNotification {
		err = errors.New("it is too long")
	}
	if err != nil {
		return "", fmt.Errorf("write a notification of %s: %w", h.Topic, err)
	}
	return string(text), nil
}

// decode reads what somebody sent. Anybody who can connect to the database can.
func decode(text string) (payload, error) {
	var p payload
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return payload{}, err
	}
	if p.Topic == "" {
		return payload{}, errors.New("it has no topic")
	}
	return p, nil
}

func (p payload) hint() Hint {
	return Hint{Topic: p.Topic, Owner: p.Owner, Kinds: p.Kinds, IDs: p.IDs}
}

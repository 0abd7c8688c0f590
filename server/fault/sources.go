package fault

import (
	"fmt"
	"strconv"
)

// Ambiguous is a connector's id that stands for n connections, counted up to most.
func Ambiguous(connectorID string, n, most int) *Fault {
	many := n > most
	n = min(n, most)
	words := strconv.Itoa(n)
	if many {
		words = "more than " + words
	}
	return New("ambiguous", fmt.Sprintf("The connector %s has %s connections that are not revoked: name one by its id.", connectorID, words)).
		With("connections", map[string]any{"value": n, "at_least": many})
}

// ConnectionDeleted is a source whose connection the owner deleted.
func ConnectionDeleted(connectionID string) *Fault {
	return New("connection_deleted", "The connection of this source was deleted: "+connectionID+".").With("connection_id", connectionID)
}

// ConnectionConflict is a transition that the connection's status forbids.
func ConnectionConflict(connectionID, status string) *Fault {
	return New("state_conflict", "The connection is "+status+"; that forbids the transition.").
		With("connection_id", connectionID).With("state", status)
}

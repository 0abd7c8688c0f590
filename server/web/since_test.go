package web

import (
	"context"
	"math"
	"testing"
)

// asked is the context of a request of an owner.
func asked(ownerID string) context.Context {
	s := &request{}
	s.principal.OwnerID = ownerID
	return withState(context.Background(), s)
}

// What a reader of changes got for one stream of one connection is no place in
// another one, nor in a stranger's hands.
func TestASinceIsBoundToItsOwnerConnectionAndStream(t *testing.T) {
	t.Parallel()
	a, ada := &API{cursors: newCursors([]byte("0123456789abcdef"))}, asked("own_ada")
	want := Since{Version: math.MaxInt64 - 7, Epoch: -3, Floor: 9}
	sealed := a.SealSince(ada, "conn_1", "notes", want)
	if got, err := a.OpenSince(ada, "conn_1", "notes", sealed); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for name, open := range map[string]func() (Since, error){
		"owner":      func() (Since, error) { return a.OpenSince(asked("own_bob"), "conn_1", "notes", sealed) },
		"connection": func() (Since, error) { return a.OpenSince(ada, "conn_2", "notes", sealed) },
		"stream":     func() (Since, error) { return a.OpenSince(ada, "conn_1", "people", sealed) },
		"border":     func() (Since, error) { return a.OpenSince(ada, "conn_1n", "otes", sealed) },
		"text":       func() (Since, error) { return a.OpenSince(ada, "conn_1", "notes", sealed+"A") },
	} {
		if got, err := open(); err == nil {
			t.Errorf("another %s: it is taken as %+v", name, got)
		}
	}
}

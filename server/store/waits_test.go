package store

import (
	"testing"
	"time"
)

// docs/operations.md promises these. The other tests set waits of their own, so
// none of them would notice another value.
func TestWaitsOfTheProduct(t *testing.T) {
	t.Parallel()
	want := Waits{
		Conn: 1500 * time.Millisecond, Lock: 2 * time.Second, Statement: 15 * time.Second,
		Writer: 5 * time.Second, Read: 15 * time.Second, Commit: 5 * time.Second,
	}
	if got := (Waits{}).Or(productWaits); got != want {
		t.Errorf("the waits are %+v, want %+v", got, want)
	}
	if got := productWaits.probe(); got != 750*time.Millisecond { // most who probe wait for a second
		t.Errorf("a probe takes up to %v", got)
	}
}

//go:build soak

package e2e

import (
	"testing"
	"time"
)

func TestSoakOneReplicaAtATimeHoldsALease(t *testing.T) {
	f := newRacers(t, 8, time.Second)
	// The machine's own stalls are not the lease's.
	stall := f.watch(func() { f.race(2 * time.Minute) })
	f.check(3 * stall)
}

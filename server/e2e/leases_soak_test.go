//go:build soak

package e2e

import (
	"testing"
	"time"
)

func TestSoakOneReplicaAtATimeHoldsALease(t *testing.T) {
	f := newRacers(t, 8, time.Second)
	f.judge(f.watch(func() { f.race(2 * time.Minute) }))
}

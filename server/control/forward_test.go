package control_test

import (
	"testing"
	"time"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// A replica carries the database's time on from the last measure. When somebody sets the database's clock forward, leases that others
// take by the new time look to it as if no lease could end so late.
func TestLeaseByATimeThatThisReplicaDoesNotKnowYetIsLeftAlone(t *testing.T) {
	t.Parallel()
	url, forward := dbtest.Ahead(t)
	behind := dbtest.Open(t, store.Config{URL: url})
	before, err := behind.Time(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	forward()
	if _, err := control.TakeLease(t.Context(), dbtest.Open(t, store.Config{URL: url}), "work", "a", time.Hour); err != nil {
		t.Fatal(err)
	}
	if still, err := behind.Time(t.Context()); err != nil || still.Sub(before) > 24*time.Hour {
		t.Fatalf("the replica knows the new time already: %s, %v", still, err)
	}
	got, err := control.TakeLease(t.Context(), behind, "work", "b", time.Hour)
	if err != nil || got.Broken != nil || got.Left != 0 {
		t.Errorf("b took the lease that a holds: %+v, %v", got, err)
	}
}

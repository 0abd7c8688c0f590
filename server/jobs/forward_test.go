package jobs_test

import (
	"log/slog"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

// A claim by a time of the database that this replica does not know yet is sound, however late its lease ends.
func TestReaperLeavesAClaimByATimeThatItDoesNotKnowYet(t *testing.T) {
	t.Parallel()
	url, forward := dbtest.Ahead(t)
	behind, other, ctx := dbtest.Open(t, store.Config{URL: url}), dbtest.Open(t, store.Config{URL: url}), t.Context()
	owner := dbtest.Owner(t, behind, "ada").ID
	_ = behind.Now() // measured
	forward()
	now, err := other.Time(ctx)
	if err != nil {
		t.Fatal(err)
	}
	err = other.Tx(ctx, func(q model.Querier) error {
		if _, err := jobs.Enqueue(ctx, q, now, owner, []jobs.EnqueueIn{{Kind: "build"}}); err != nil {
			return err
		}
		_, err := jobs.Claim(ctx, q, now, jobs.ClaimIn{OwnerID: owner, Worker: "w", Kinds: []string{"build"}, Limit: 1})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := jobs.ReapAll(ctx, behind, jobs.NewHub(nil), slog.New(slog.DiscardHandler)); err != nil || n != 0 {
		t.Errorf("it took %d jobs back, %v", n, err)
	}
	if n := dbtest.Get[int](t, other, "select count(*) from jobs where owner_id = $1 and state = 'claimed'", owner); n != 1 {
		t.Errorf("%d jobs are claimed", n)
	}
}

package kept

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

// The migrations since the release take the locks that they take while replicas
// claim, renew, finish and reap, which lock jobs before runs.
func TestUpgradeBesideRunningWorkFailsNothing(t *testing.T) {
	t.Parallel()
	url := restore(t, store.Postgres, filepath.Join(dbtest.Root(t), "schema", "testdata", "0010"))
	s := dbtest.Open(t, store.Config{URL: url})
	owner, err := s.OwnerGetByName(t.Context(), model.OwnerGetByNameParams{Name: keptOwner})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var rounds atomic.Int64
	for w := range 6 {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := round(t.Context(), s, owner.ID, fmt.Sprint("kind-", w)); err != nil {
					t.Error(err)
					return
				}
				rounds.Add(1)
			}
		})
	}
	upgrade(t, url)
	stop()
	wg.Wait()
	s.Close() // what the connections counted is told when they end
	var deadlocks int
	if err := dbtest.Connect(t, url).QueryRow("select deadlocks from pg_stat_database where datname = current_database()").Scan(&deadlocks); err != nil {
		t.Fatal(err)
	}
	if deadlocks != 0 || rounds.Load() == 0 {
		t.Errorf("%d deadlocks in %d rounds of work", deadlocks, rounds.Load())
	}
}

// round is a job's life, and a pass of the reaper.
func round(ctx context.Context, s *store.Store, owner, kind string) error {
	now := dbtest.T0.Add(keptFor)
	var held model.Job
	for _, step := range []func(q model.Querier) error{
		func(q model.Querier) error {
			_, err := jobs.Enqueue(ctx, q, now, owner, []jobs.EnqueueIn{{Kind: kind}})
			return err
		},
		func(q model.Querier) error {
			out, err := jobs.Claim(ctx, q, now, jobs.ClaimIn{OwnerID: owner, Worker: "w", Kinds: []string{kind}, Limit: 1})
			if err == nil && len(out.Jobs) == 1 {
				held = out.Jobs[0].Job
			}
			return err
		},
		func(q model.Querier) error {
			_, err := jobs.Heartbeat(ctx, q, now, jobs.HeartbeatIn{OwnerID: owner, ID: held.ID, LeaseToken: *held.LeaseToken, Progress: coltype.JSON(`1`)})
			return err
		},
		func(q model.Querier) error {
			_, err := jobs.Reap(ctx, q, now, "", jobs.Jitter)
			return err
		},
		func(q model.Querier) error {
			_, err := jobs.Finish(ctx, q, now, jobs.FinishIn{OwnerID: owner, ID: held.ID, LeaseToken: *held.LeaseToken, Action: jobs.Complete})
			return err
		},
	} {
		if err := s.Tx(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

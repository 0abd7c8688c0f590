package kept

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// The migrations since the release take the locks that they take while replicas
// claim, renew, finish and reap, which lock jobs before runs.
func TestUpgradeBesideRunningWorkFailsNothing(t *testing.T) {
	t.Parallel()
	url := restore(t, store.Postgres, filepath.Join(dbtest.Root(t), "schema", "testdata", "0010"))
	db := dbtest.Connect(t, url)
	var owner string
	if err := db.QueryRow("select id from owners where name = $1", keptOwner).Scan(&owner); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var rounds atomic.Int64
	for w := range 6 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := round(t.Context(), db, owner, fmt.Sprint("kind-", w), fmt.Sprintf("load-%d-%d", w, n)); err != nil {
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
	db.Close() // what the connections counted is told when they end
	var deadlocks int
	if err := dbtest.Connect(t, url).QueryRow("select deadlocks from pg_stat_database where datname = current_database()").Scan(&deadlocks); err != nil {
		t.Fatal(err)
	}
	if deadlocks != 0 || rounds.Load() == 0 {
		t.Errorf("%d deadlocks in %d rounds of work", deadlocks, rounds.Load())
	}
}

// round is a job's life and a pass of the reaper, in transactions that lock as those
// of the release do. It is written for the release's columns, which every later
// schema has.
func round(ctx context.Context, db *sql.DB, owner, kind, id string) error {
	for _, tx := range [][]string{
		{`insert into jobs (id, owner_id, kind, state, payload, priority, run_at, attempt, max_attempts, created_at, updated_at)
			values ($1, $2, $3, 'pending', '{}', 3, now(), 0, 5, now(), now())`},
		{`update jobs set state = 'claimed', attempt = 1, lease_token = 't', claimed_by = 'w', lease_expires_at = now() + interval '1 minute' where id = $1 and owner_id = $2 and kind = $3`,
			`insert into runs (id, owner_id, kind, job_id, status, attempt, worker, token_hash, scheduler_managed, origin, event_seq, created_at, started_at)
			values ('run' || $1, $2, 'job', $1, 'running', 1, $3, 'hash' || $1, false, 'live', 0, now(), now())`},
		{`update jobs set lease_expires_at = now() + interval '2 minutes' where id = $1 and owner_id = $2 and kind = $3`},
		{`select j.id from jobs j left join runs r on r.job_id = j.id and r.status = 'running'
			where j.state = 'claimed' and j.lease_expires_at < now() and j.id <> $1 and j.owner_id = $2 and j.kind <> $3 order by j.id limit 100 for update of j skip locked`},
		{`select id from jobs where id = $1 and owner_id = $2 and kind = $3 for update`,
			`update runs set status = 'succeeded', completed_at = now() where job_id = $1 and owner_id = $2 and worker = $3`,
			`update jobs set state = 'succeeded', finished_at = now(), lease_token = null, claimed_by = null, lease_expires_at = null where id = $1 and owner_id = $2 and kind = $3`},
	} {
		if err := together(ctx, db, tx, id, owner, kind); err != nil {
			return err
		}
	}
	return nil
}

// together runs statements in one transaction.
func together(ctx context.Context, db *sql.DB, statements []string, args ...any) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return tx.Commit()
}

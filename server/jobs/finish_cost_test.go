package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/gen/postgres"
	lite "github.com/stint-run/stint/gen/sqlite"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

// batchArgs are the arguments of the two statements of a batch finish.
type batchArgs struct {
	model.Querier
	jobs *model.JobCompleteManyParams
	runs *model.RunSucceedManyParams
}

func (o batchArgs) JobCompleteMany(ctx context.Context, arg model.JobCompleteManyParams) ([]model.Job, error) {
	*o.jobs = arg
	return o.Querier.JobCompleteMany(ctx, arg)
}

func (o batchArgs) RunSucceedMany(ctx context.Context, arg model.RunSucceedManyParams) ([]model.RunSucceedManyRow, error) {
	*o.runs = arg
	return o.Querier.RunSucceedMany(ctx, arg)
}

// batchOf are the arguments as a real batch makes them; it is rolled back.
func batchOf(d *fixture, items []jobs.Completion) (args batchArgs) {
	d.Helper()
	args = batchArgs{jobs: &model.JobCompleteManyParams{}, runs: &model.RunSucceedManyParams{}}
	err := d.Store.Tx(d.Context(), func(q model.Querier) error {
		args.Querier = q
		out, err := jobs.CompleteAll(d.Context(), args, d.Now, d.Owner, items)
		for i, f := range out {
			if f.Fault != nil || f.Run.JobID == nil {
				d.Errorf("item %d of %d: %v", i, len(items), f.Fault)
			}
		}
		return errors.Join(err, errUndo)
	})
	if !errors.Is(err, errUndo) {
		d.Fatal(err)
	}
	return args
}

// finishCost is how many pages a batch of n reads; it is rolled back.
func (d *fixture) finishCost(n int) int {
	d.Helper()
	items := make([]jobs.Completion, n)
	for i := range items {
		id := fmt.Sprintf("job_held_%08d", i+1)
		items[i] = jobs.Completion{ID: id, LeaseToken: id, Result: js(`{"ok":true}`)}
	}
	args := batchOf(d, items)
	if d.Store.Engine() == store.Postgres {
		return pgFinishCost(d, args)
	}
	return liteFinishCost(d, args)
}

// pgFinishCost is the buffers of the generic plans.
func pgFinishCost(d *fixture, args batchArgs) int {
	d.Helper()
	conn, _ := pgConn(d.T, d.Store)
	tx, err := conn.Begin(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = tx.Rollback(d.Context()) }()
	for _, sql := range []string{
		"set local plan_cache_mode = force_generic_plan",
		"prepare ends_jobs as " + bare(postgres.JobCompleteMany), "prepare ends_runs as " + bare(postgres.RunSucceedMany),
	} {
		if _, err := tx.Exec(d.Context(), sql); err != nil {
			d.Fatal(err)
		}
	}
	explain := "explain (analyze, buffers, timing off, format json) execute "
	_, all := explainedBuffers(d, tx, explain+fmt.Sprintf("ends_jobs(%s, %s, %s, %s)", literal(args.jobs.Now.String()), literal(args.jobs.Latest.String()), literal(args.jobs.Rows), literal(d.Owner)))
	_, more := explainedBuffers(d, tx, explain+fmt.Sprintf("ends_runs(%s, %s)", literal(args.runs.Rows), literal(d.Owner)))
	return all + more
}

// liteFinishCost is the pages the two statements looked up, in the cache or not.
func liteFinishCost(d *fixture, args batchArgs) (all int) {
	d.Helper()
	conn, err := dbtest.DB(d.T, d.Store).Conn(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	defer conn.Close()
	for range 2 { // the first reads the schema, too
		tx, err := conn.BeginTx(d.Context(), nil)
		if err != nil {
			d.Fatal(err)
		}
		all = -pagesSeen(d, conn)
		_, jobsErr := lite.New(tx).JobCompleteMany(d.Context(), *args.jobs)
		_, runsErr := lite.New(tx).RunSucceedMany(d.Context(), *args.runs)
		all += pagesSeen(d, conn)
		if err := errors.Join(jobsErr, runsErr, tx.Rollback()); err != nil {
			d.Fatal(err)
		}
	}
	return all
}

// heldMany plants n claimed jobs with their runs; each job's id is its token.
func (d *fixture) heldMany(n int) {
	d.Helper()
	plantFor(d, n, "held", row{kind: "build", state: jobs.Pending, priority: 3, runAt: d.Now})
	dbtest.SQL(d.T, d.Store, `update jobs set state = 'claimed', attempt = 1, lease_token = id, claimed_by = 'w', lease_expires_at = run_at where state = 'pending'`)
	dbtest.SQL(d.T, d.Store, `
		insert into runs (id, owner_id, kind, job_id, status, attempt, worker, token_hash, scheduler_managed, origin, event_seq, created_at, started_at)
		select 'run_' || id, owner_id, 'job', id, 'running', 1, 'w', id, false, 'live', 0, created_at, created_at from jobs where state = 'claimed'`)
}

// A batch costs the same for each of its jobs, whatever lies beside them, and
// whether the statistics are those of an almost empty table or true.
func TestBatchFinishCostsTheSameAJobInAnyBatch(t *testing.T) {
	eachFresh(t, func(d *fixture) {
		plant(d, 100, "build", jobs.Succeeded, d.Now)
		dbtest.SQL(d.T, d.Store, "analyze")
		d.heldMany(2000)
		plant(d, 2000, "build", jobs.Pending, d.Now.Add(time.Hour))
		plant(d, 2001, "build", jobs.Succeeded, d.Now)
		for _, sql := range []string{"select 1", "analyze"} {
			dbtest.SQL(d.T, d.Store, sql)
			for _, n := range []int{1, 100, 1000} {
				pages, most := d.finishCost(n), 60*n+50
				d.Logf("after %s: a batch of %4d reads %6d pages", sql, n, pages)
				if pages > most {
					d.Errorf("after %s: a batch of %d reads %d pages, want at most %d", sql, n, pages, most)
				}
			}
		}
	})
}

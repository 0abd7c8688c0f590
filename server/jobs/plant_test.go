package jobs_test

import (
	"fmt"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

// row says what planted jobs look like; zero members take defaults.
type row struct {
	kind     string
	state    string
	priority int
	runAt    coltype.Time
}

// plant writes n jobs in one statement: at scale, enqueueing takes too long.
// Each is created, and due, a microsecond after the one before.
func plant(d *fixture, n int, kind, state string, at coltype.Time) {
	d.Helper()
	plantRows(d, n, row{kind: kind, state: state, priority: 3, runAt: at})
}

var planted = map[string]string{
	store.Postgres: `
insert into jobs (id, owner_id, kind, state, payload, priority, run_at, attempt, max_attempts, created_at, updated_at, finished_at)
select 'job_' || $2 || '_' || lpad(i::text, 8, '0'), $3, $4, $5, '{}', $6, $7::timestamptz + i * interval '1 microsecond', 0, 5,
    $7::timestamptz + i * interval '1 microsecond', $7, case when $5 in ('succeeded', 'failed') then $7::timestamptz end
from generate_series(1, $1) i`,
	store.SQLite: `
with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
insert into jobs (id, owner_id, kind, state, payload, priority, run_at, attempt, max_attempts, created_at, updated_at, finished_at)
select 'job_' || ?2 || '_' || printf('%08d', i), ?3, ?4, ?5, '{}', ?6, ?7 + i, 0, 5,
    ?7 + i, ?7, case when ?5 in ('succeeded', 'failed') then ?7 end
from n`,
}

func plantRows(d *fixture, n int, r row) {
	d.Helper()
	plantFor(d, n, fmt.Sprintf("%s_%s_%s_%d_%d", d.Owner, r.kind, r.state, r.priority, n), r)
}

// plantFor is plantRows with a name of its own in the jobs' ids.
func plantFor(d *fixture, n int, name string, r row) {
	d.Helper()
	dbtest.SQL(d.T, d.Store, planted[d.Store.Engine()], n, name, d.Owner, r.kind, r.state, r.priority, arg(d.Store, r.runAt))
	if _, err := jobs.GetKind(d.Context(), d.Store, d.Owner, r.kind); err != nil {
		d.putKind(jobs.KindIn{Name: r.kind, LeaseSeconds: 60, MaxAttempts: 5, BackoffBaseSeconds: 5, BackoffCapSeconds: 3600})
	}
}

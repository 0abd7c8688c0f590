package jobs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

// heartbeats beats 60 jobs in each of rounds, and returns how many of the
// updates were heap-only.
func heartbeats(t *testing.T, d *fixture, rounds int) (hot, total int) {
	t.Helper()
	for range 60 {
		d.enqueue(jobs.EnqueueIn{Payload: js(`{"text":"` + strings.Repeat("x", 200) + `"}`)})
	}
	held := d.claimIn(jobs.ClaimIn{Limit: 100})
	conn, q := pgConn(t, d.Store)
	for range rounds {
		d.Pass(20 * time.Second)
		for _, c := range held {
			_, err := q.JobRenew(t.Context(), model.JobRenewParams{
				ID: c.Job.ID, OwnerID: d.Owner, LeaseToken: c.Job.LeaseToken, Now: d.Now, Progress: js(`{"percent":50}`),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := conn.Exec(t.Context(), "select pg_stat_force_next_flush()"); err != nil {
		t.Fatal(err)
	}
	err := conn.QueryRow(t.Context(), "select n_tup_hot_upd from pg_stat_user_tables where relname = 'jobs'").Scan(&hot)
	if err != nil {
		t.Fatal(err)
	}
	return hot, rounds * len(held)
}

// Given room on the page, a heartbeat is an update that no index has to hear
// of. The room is ample here: room that earlier versions left comes free only
// when no snapshot of the whole server needs them, and other tests hold some.
func TestHeartbeatsAreHeapOnlyUpdates(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)})
		d := newFixture(t, s)
		if room := dbtest.Get[bool](t, s, "select reloptions @> '{fillfactor=85}' from pg_class where relname = 'jobs'"); !room {
			t.Error("pages of jobs are filled up: no room for new versions")
		}
		dbtest.SQL(t, s, "alter table jobs set (fillfactor = 10)")
		if hot, total := heartbeats(t, d, 5); hot != total {
			t.Errorf("%d of %d heartbeats were heap-only", hot, total)
		}
	})
}

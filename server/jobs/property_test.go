package jobs_test

import (
	"database/sql"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
)

// A step is a transaction, so fewer checks than rapid's hundred have to do;
// -rapid.checks asks for more.
func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		_ = flag.Set("rapid.checks", "8")
	}
	os.Exit(m.Run())
}

// queue is a random run of a queue beside the little that must be true of it.
type queue struct {
	d    *fixture
	db   *sql.DB
	held []jobs.ClaimedJob // every claim ever made; most are stale
	ids  []string
	keys []string
}

func (q *queue) enqueue(t *rapid.T) {
	in := jobs.EnqueueIn{Kind: "build", Keep: rapid.Bool().Draw(t, "keep")}
	if rapid.IntRange(0, 3).Draw(t, "keyed") > 0 {
		in.Key = ptr(rapid.SampledFrom(q.keys).Draw(t, "key"))
	}
	if rapid.Bool().Draw(t, "limited") {
		in.MaxAttempts = ptr(rapid.Int64Range(1, 3).Draw(t, "attempts"))
	}
	if rapid.Bool().Draw(t, "later") {
		in.RunAt = q.d.Now.Add(time.Duration(rapid.IntRange(-9, 9).Draw(t, "s")) * time.Second)
	}
	in.Timeout = timeout(t)
	out, err := q.d.tryEnqueue(in)
	if err != nil || out[0].Err != nil {
		t.Fatalf("enqueue: %v", err)
	}
	q.ids = append(q.ids, out[0].Job.ID)
}

func (q *queue) claim(t *rapid.T) {
	in := jobs.ClaimIn{Limit: rapid.Int64Range(1, 3).Draw(t, "limit"), Timeout: timeout(t)}
	q.held = append(q.held, q.d.claimIn(in)...)
}

// timeout is a time limit about as long as the lease, or none.
func timeout(t *rapid.T) *int64 {
	if rapid.Bool().Draw(t, "timed") {
		return ptr(rapid.Int64Range(1, 120).Draw(t, "timeout"))
	}
	return nil
}

// finish ends a claim, present or stale; what it must not do shows in check.
func (q *queue) finish(t *rapid.T) {
	if len(q.held) == 0 {
		return
	}
	held := rapid.SampledFrom(q.held).Draw(t, "held")
	in := rapid.SampledFrom(actions).Draw(t, "action")
	_, _ = q.d.finish(held, in)
}

func (q *queue) beat(t *rapid.T) {
	if len(q.held) > 0 {
		_, _ = q.d.beat(rapid.SampledFrom(q.held).Draw(t, "held"), jobs.HeartbeatIn{Progress: js(`1`)})
	}
}

func (q *queue) byHand(t *rapid.T) {
	if len(q.ids) == 0 {
		return
	}
	id := rapid.SampledFrom(q.ids).Draw(t, "id")
	if rapid.Bool().Draw(t, "retry") {
		_, _ = q.d.retry(id)
	} else {
		_, _ = q.d.cancel(id)
	}
}

func (q *queue) pass(t *rapid.T) {
	q.d.Pass(time.Duration(rapid.IntRange(1, 90).Draw(t, "s")) * time.Second)
	q.d.reap()
}

// invariants are queries for rows that must not exist.
var invariants = map[string]string{
	"two live jobs of a key":              "select count(*) from (select key from jobs where state in ('pending', 'claimed') and key is not null group by key having count(*) > 1) x",
	"a claimed job without a running run": "select count(*) from jobs j where state = 'claimed' and (select count(*) from runs r where r.job_id = j.id and r.status = 'running') <> 1",
	"a running run of no claimed job":     "select count(*) from runs r where status = 'running' and not exists (select 1 from jobs j where j.id = r.job_id and j.state = 'claimed' and j.attempt = r.attempt)",
	"a lease beyond its deadline":         "select count(*) from jobs j join runs r on r.job_id = j.id and r.status = 'running' where j.lease_expires_at > r.deadline_at",
	"an ended job without its time":       "select count(*) from jobs where (state in ('succeeded', 'failed', 'cancelled')) <> (finished_at is not null)",
	"more attempts than allowed":          "select count(*) from jobs where attempt > max_attempts",
	"a pending job without an attempt":    "select count(*) from jobs where state = 'pending' and attempt >= max_attempts",
	"an ended job that asks again":        "select count(*) from jobs where again is not null and state <> 'claimed'",
	"a successor that nobody names":       "select count(*) from jobs a where follows is not null and not exists (select 1 from jobs b where b.id = a.follows and b.followed_by = a.id)",
	"a job followed by nobody":            "select count(*) from jobs a where followed_by is not null and not exists (select 1 from jobs b where b.id = a.followed_by and b.follows = a.id)",
}

// broken names the invariants that do not hold.
var broken = func() string {
	var parts []string
	for name, query := range invariants {
		parts = append(parts, "select '"+name+"' as name, ("+query+") as n")
	}
	parts = append(parts, "select 'runs', count(*) from runs")
	return "select name, n from (" + strings.Join(parts, " union all ") + ") x where n <> 0"
}()

func (q *queue) check(t *rapid.T) {
	rows, err := q.db.Query(broken)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	ledger := 0
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		if name == "runs" {
			ledger = n
		} else {
			t.Fatalf("%s: %d", name, n)
		}
	}
	if rows.Err() != nil || ledger != len(q.held) {
		t.Fatalf("%d runs for %d claims, %v", ledger, len(q.held), rows.Err())
	}
}

// Whatever is done in whatever order: at most one live job per key, one running
// run per claim, every run ended once, and no attempt beyond the last.
func TestQueueInvariantsHoldUnderAnyOrderOfActions(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		db := dbtest.DB(d.T, d.Store)
		property := func(t *rapid.T) {
			own := *d
			for _, table := range []string{"runs", "jobs"} {
				if _, err := db.Exec("delete from " + table); err != nil {
					t.Fatal(err)
				}
			}
			q := &queue{d: &own, db: db, keys: []string{"a", "b", "c"}}
			steps := map[string]func(*rapid.T){
				"enqueue": q.enqueue, "claim": q.claim, "finish": q.finish, "finish again": q.finish,
				"beat": q.beat, "by hand": q.byHand, "pass": q.pass, "": q.check,
			}
			t.Repeat(steps)
		}
		rapid.Check(d.T, property)
	})
}

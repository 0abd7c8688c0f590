package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestRollingUpgradeFailsNoRequest replaces three replicas, one after the other,
// by a build that brings a migration, while clients enqueue, claim, finish and
// list.
func TestRollingUpgradeFailsNoRequest(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)})
	db := lookBeside(t, dbtest.URLOf(t, s))
	f := newFleet(t, s, 3)
	old := append([]*process(nil), f.all...)
	load := f.load(8)
	for i, p := range old {
		next := f.add(nextBinary)
		next.awaitReady()
		for _, running := range old[i:] {
			wantAhead(t, running)
		}
		p.signal(syscall.SIGTERM)
		if code := p.exit(40 * time.Second); code != 0 {
			t.Errorf("the old replica ended with %d", code)
		}
	}
	load.end()
	applied := 0
	for _, p := range f.all {
		applied += strings.Count(p.log.String(), `msg="applied migration"`)
	}
	if applied != 1 {
		t.Errorf("the replicas applied %d migrations, one was pending", applied)
	}
	t.Logf("%d requests, %d sent again, %d failed, the slowest took %v; %d jobs",
		load.requests, load.retried, load.failed, load.slowest, len(load.enqueued.n))
	if load.failed != 0 {
		t.Errorf("%d requests failed", load.failed)
	}
	wantOnce(t, db, load)
	for _, p := range f.all {
		p.kill9() // what the database holds from here on, a refused start wrote
	}
	refusesNewer(t, db, s, old[0])
}

// wantAhead: a running process serves on under the newer schema.
func wantAhead(t *testing.T, p *process) {
	t.Helper()
	a := p.Get("/readyz?verbose")
	if a.Status != 200 || a.Str("replica.schema") != "ahead" || a.Str("replica.ahead.0") != nextVersion() {
		t.Errorf("the old replica: %s", a)
	}
}

// nextVersion is what a build with the tag nextmigration knows, and this one
// does not.
func nextVersion() string {
	known := schema.Expected(schema.Postgres)
	last := []byte(known[len(known)-1])
	for i := len(last) - 1; i >= 0; i-- {
		if last[i]++; last[i] <= '9' {
			break
		}
		last[i] = '0'
	}
	return string(last)
}

// wantOnce: every job that was acknowledged stands, and was done once, by one
// claim.
func wantOnce(t *testing.T, db *beside, load *traffic) {
	t.Helper()
	if len(load.enqueued.n) == 0 || len(load.settled.n) != len(load.enqueued.n) {
		t.Errorf("%d jobs were enqueued, %d finished", len(load.enqueued.n), len(load.settled.n))
	}
	for id, n := range load.claimed.n {
		if n != 1 || load.enqueued.n[id] != 1 {
			t.Errorf("%s was enqueued %d times, and claimed %d times", id, load.enqueued.n[id], n)
		}
	}
	for what, query := range map[string]string{
		"jobs":             "select count(*) from jobs",
		"jobs done":        "select count(*) from jobs where state = 'succeeded' and attempt = 1",
		"runs":             "select count(*) from runs where status = 'succeeded'",
		"jobs with a run":  "select count(distinct job_id) from runs",
		"runs of any kind": "select count(*) from runs",
	} {
		if n := db.number(query); n != int64(len(load.enqueued.n)) {
			t.Errorf("%d %s, %d jobs were acknowledged", n, what, len(load.enqueued.n))
		}
	}
}

// refusesNewer: a new start of the old build writes nothing, and says what it
// does not know and what to do.
func refusesNewer(t *testing.T, db *beside, s *store.Store, old *process) {
	t.Helper()
	before := wholeDump(db)
	for _, mode := range []string{"auto", "verify", "off"} {
		late := newProcess(t, dbtest.URLOf(t, s), "--migrate", mode)
		late.build = old.build
		late.launch()
		if code := late.exit(20 * time.Second); code != 1 {
			t.Errorf("--migrate %s: exit code %d", mode, code)
		}
		for _, word := range []string{"unsupported_schema", nextVersion(), "start the newer build", "Going back a release"} {
			if log := late.log.String(); !strings.Contains(log, word) {
				t.Errorf("--migrate %s: no %q in\n%s", mode, word, log)
			}
		}
	}
	if after := wholeDump(db); after != before {
		t.Errorf("the refused starts changed\n%s to\n%s", before, after)
	}
}

// wholeDump is what a start could write to.
func wholeDump(db *beside) string {
	return db.dump("schema_migrations", "true") + db.dump("owners", "true") + db.dump("tokens", "true") + db.dump("meta", "true")
}

// TestSequentialUpgradeOfSQLite: one process after the other, as its file allows.
func TestSequentialUpgradeOfSQLite(t *testing.T) {
	t.Parallel()
	p := start(t, store.SQLite)
	j := claimed(p.Client)
	p.signal(syscall.SIGTERM)
	if code := p.exit(40 * time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.build = nextBinary
	p.restart()
	p.Must(200, j.path("complete"), j.with(`"result":1`))
	p.Must(201, "/v1/jobs", keyed)
	p.kill9()
	old := newProcess(t, p.url)
	refusesNewer(t, p.db, p.store, old)
	p.restart()
	if n := p.db.number("select count(*) from jobs"); n != 2 {
		t.Errorf("%d jobs", n)
	}
}

// TestReplicasOfTheNextBuildStartTogether on a database that lacks its migration.
func TestReplicasOfTheNextBuildStartTogether(t *testing.T) {
	t.Parallel()
	url := dbtest.Fresh(t, store.Postgres)
	var started []*process
	for range 5 {
		p := newProcess(t, url)
		p.build = nextBinary
		p.launch()
		started = append(started, p)
	}
	applied := 0
	for _, p := range started {
		p.awaitReady()
		applied += strings.Count(p.log.String(), `msg="applied migration"`)
	}
	if applied != 1 {
		t.Errorf("one migration was applied %d times", applied)
	}
}

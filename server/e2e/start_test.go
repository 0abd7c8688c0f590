package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestServersThatStartAtOnceOnAnEmptyDatabaseAllComeUp: one of them migrates.
func TestServersThatStartAtOnceOnAnEmptyDatabaseAllComeUp(t *testing.T) {
	t.Parallel()
	url := dbtest.Empty(t, store.Postgres)
	started := launchAll(t, url, 5)
	applied := 0
	for _, p := range started {
		p.awaitReady()
		applied += strings.Count(p.log.String(), `msg="applied migration"`)
	}
	s := dbtest.Open(t, store.Config{URL: url})
	if known := lookBeside(t, dbtest.URLOf(t, s)).number("select count(*) from schema_migrations"); applied != int(known) || applied == 0 {
		t.Errorf("%d migrations were applied, %d are recorded", applied, known)
	}
	token := apitest.Token(t, s, "ada", "admin")
	var ids tally
	together(len(started), func(i int) {
		ids.add(started[i].As(token).Post("/v1/jobs", `{"kind":"review","key":"k"}`).Str("job.id"))
	})
	if len(ids.n) != 1 {
		t.Errorf("the servers made %v", ids.n)
	}
}

func launchAll(t *testing.T, url string, n int) (started []*process) {
	t.Helper()
	for range n {
		p := newProcess(t, url)
		p.launch()
		started = append(started, p)
	}
	return started
}

// TestOneOfManyServersGetsAnSQLiteFile: the others end at once, and name it. It
// may be killed and started again without a wait; commands work beside it.
func TestOneOfManyServersGetsAnSQLiteFile(t *testing.T) {
	t.Parallel()
	url := dbtest.Empty(t, store.SQLite)
	started := launchAll(t, url, 4)
	var first *process
	var lost []*process
	apitest.Await(t, "one server is left", func() bool {
		first, lost = nil, nil
		for _, p := range started {
			if p.hasEnded() {
				lost = append(lost, p)
			} else {
				first = p
			}
		}
		return len(lost) >= len(started)-1
	})
	if first == nil {
		t.Fatalf("none is left:\n%s", started[0].log)
	}
	first.awaitReady()
	for _, p := range lost {
		holder := regexp.MustCompile(fmt.Sprintf("has a server already, (process %d on |another process)", first.cmd.Process.Pid)) // which may be about to sign
		if code := p.exit(0); code != 1 || !holder.MatchString(p.log.String()) {
			t.Errorf("exit code %d, its holder is %d:\n%s", code, first.cmd.Process.Pid, p.log)
		}
	}
	for _, args := range [][]string{
		{"token", "create", "--owner", "ada", "--scopes", "admin"}, {"token", "list"}, {"migrate", "up"}, {"migrate", "verify"},
	} {
		if out, code := command(t, append(args, "--db", url)...); code != 0 {
			t.Errorf("%v beside the server: exit code %d\n%s", args, code, out)
		}
	}
	for range 3 {
		first.kill9()
		first.restart()
	}
	first.signal(syscall.SIGTERM)
	if code := first.exit(40 * time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	lost[0].restart()
}

// TestServerLeavesAnotherProgramsDatabaseAlone, and so do the commands.
func TestServerLeavesAnotherProgramsDatabaseAlone(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			url := dbtest.Empty(t, engine)
			if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
				if err := schema.CreateFile(path); err != nil {
					t.Fatal(err)
				}
			}
			dbtest.Plant(t, url, "create table books (id integer)")
			p := newProcess(t, url)
			p.launch()
			if code := p.exit(20 * time.Second); code != 1 || !strings.Contains(p.log.String(), "foreign_database") {
				t.Errorf("exit code %d\n%s", code, p.log)
			}
			for _, args := range [][]string{{"migrate", "up"}, {"migrate", "verify"}, {"migrate", "plan"}, {"token", "list"}} {
				if out, code := command(t, append(args, "--db", url)...); code != 1 {
					t.Errorf("%v: exit code %d\n%s", args, code, out)
				}
			}
		})
	}
}

// TestOldBuildLeavesANewerSchemaAlone: a start refuses, and names what it does
// not know; a server that runs already goes on.
func TestOldBuildLeavesANewerSchemaAlone(t *testing.T) {
	t.Parallel()
	eachOnFresh(t, func(t *testing.T, p *process) {
		p.db.exec("insert into schema_migrations (version) values ('9999')")
		apitest.Await(t, "the running one to know of it", func() bool { // what it found a moment ago still counts
			a := p.Get("/readyz?verbose")
			return a.Status == 200 && a.Str("replica.schema") == "ahead" && a.Str("replica.ahead.0") == "9999"
		})
		p.Must(201, "/v1/jobs", keyed)
		alone := p.db.engine == store.SQLite // one process has the file
		if alone {
			p.kill9()
		}
		before := p.db.dump("schema_migrations", "true")
		for _, mode := range []schema.Mode{schema.Auto, schema.VerifyOnly, schema.Off} {
			late := newProcess(t, p.url, "--migrate", string(mode))
			late.launch()
			if code := late.exit(20 * time.Second); code == 0 {
				t.Errorf("--migrate %s: exit code 0", mode)
			}
			if log := late.log.String(); !strings.Contains(log, "unsupported_schema") || !strings.Contains(log, "9999") {
				t.Errorf("--migrate %s:\n%s", mode, log)
			}
		}
		if after := p.db.dump("schema_migrations", "true"); after != before {
			t.Errorf("the refused starts wrote\n%s", after)
		}
		if !alone {
			p.Must(201, "/v1/jobs", keyed)
			p.kill9()
		}
		p.launch()
		if code := p.exit(20 * time.Second); code == 0 {
			t.Error("the restarted one: exit code 0")
		}
	})
}

// TestReplicasWithWrongClocksLeaveLeasesAlone: the database's clock writes
// every lease and ends it, so neither a fast nor a slow replica takes one early, or
// makes one longer.
func TestReplicasWithWrongClocksLeaveLeasesAlone(t *testing.T) {
	t.Parallel()
	right := start(t, store.Postgres)
	skewed := map[string]*process{}
	for _, skew := range []string{"+90s", "-90s"} {
		p := newProcess(t, right.url)
		p.store, p.db, p.Token = right.store, right.db, right.Token
		p.env = []string{"STINT_TEST_CLOCK_SKEW=" + strings.TrimPrefix(skew, "+")}
		p.launch()
		skewed[skew] = p
	}
	for _, p := range skewed {
		p.awaitReady()
	}
	held, late := claimed(right.Client), claimed(right.Client)
	before := right.db.story(held.id)
	right.db.lease(late.id, right.store.Now().Add(-time.Minute))
	passed := map[*process]int64{}
	for _, p := range []*process{right, skewed["+90s"], skewed["-90s"]} {
		passed[p] = passes(p)
	}
	apitest.Await(t, "every reaper has had its turn", func() bool {
		for p, n := range passed {
			if passes(p) == n {
				return false
			}
		}
		return true
	})
	if after := right.db.story(held.id); after != before {
		t.Errorf("a reaper changed\n%s to\n%s", before, after)
	}
	awaitState(t, right.Client, late.id, "pending") // by the database's clock it had ended
	for skew, p := range skewed {
		name := p.Get("/v1/jobs/" + held.id).Str("kind")
		if a := p.Must(200, "/v1/jobs/claim", `{"worker":"w2","kinds":["`+name+`"]}`); a.Len("jobs") != 0 {
			t.Errorf("%s claims %s", skew, a)
		}
		if a := p.Get("/v1/runs/" + held.run); a.Str("status") != "in_progress" {
			t.Errorf("%s shows the run as %s", skew, a)
		}
		a := p.Must(200, held.path("heartbeat"), held.with(`"lease_seconds":60`))
		ends, err := time.Parse(time.RFC3339Nano, a.Str("lease_expires_at"))
		if left := ends.Sub(right.store.Now().Time); err != nil || left > 62*time.Second || left < 40*time.Second {
			t.Errorf("%s: a lease of a minute has %v left, %v", skew, left, err)
		}
		b := claimed(p.Client)
		if lease := p.Get("/v1/jobs/" + b.id); !near(t, lease.Str("updated_at"), right.store.Now().Time) {
			t.Errorf("%s wrote %s", skew, lease)
		}
	}
}

// near reports whether two times are the same but for the course of a test.
func near(t *testing.T, text string, now time.Time) bool {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Error(err)
	}
	return now.Sub(at).Abs() < 30*time.Second
}

// passes is how often the reaper of a replica has passed.
func passes(p *process) int64 {
	a := p.Get("/readyz?verbose")
	loops, _ := a.At("replica.loops").([]any)
	i := slices.IndexFunc(loops, func(l any) bool { return l.(map[string]any)["name"] == "run-reaper" })
	if i < 0 {
		p.t.Fatalf("no reaper in %s", a)
	}
	reaper := loops[i].(map[string]any)
	var passed, skipped int64
	_, _ = fmt.Sscan(fmt.Sprint(reaper["passes"]), &passed)
	_, _ = fmt.Sscan(fmt.Sprint(reaper["lease"].(map[string]any)["skipped"]), &skipped)
	return passed + skipped
}

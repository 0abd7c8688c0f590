package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestOneReplicaAtATimeHoldsALease (CLK-01, CLM-10): eight servers with clocks that are wrong by
// up to hours race for the reaper's lease; holders are killed, stopped and
// continued, and drained.
func TestOneReplicaAtATimeHoldsALease(t *testing.T) {
	t.Parallel()
	f := newRacers(t, 8, 300*time.Millisecond)
	f.watch(func() { f.race(0) })
	f.check(10 * time.Second) // a busy machine is no fault; the soak is strict
}

// watch runs fn, and measures meanwhile the longest that the machine and the
// database let somebody wait who takes a lease of his own every 50 ms.
func (f *racers) watch(fn func()) (stall time.Duration) {
	const every = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // fn may end the test
	worst := make(chan time.Duration, 1)
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		var longest time.Duration
		for last := time.Now(); ctx.Err() == nil; <-tick.C {
			_, _ = control.TakeLease(ctx, f.s, "probe", "probe", time.Minute) // what counts is how long it takes
			longest = max(longest, time.Since(last)-every)
			last = time.Now()
		}
		worst <- longest
	}()
	fn()
	cancel()
	return <-worst
}

// passed is a line of a log: a pass of the reaper has ended.
type passed struct {
	at     time.Time
	holder string
	term   int64
}

var (
	tookLine = regexp.MustCompile(`msg="took a lease" lease=run-reaper holder=(\S+) term=(\d+)`)
	passLine = regexp.MustCompile(`time=(\S+) level=DEBUG msg="background pass" loop=run-reaper term=(\d+)`)
)

// passes reads the logs: each pass of the reaper, under the term that its
// process had taken last.
func (f *racers) passes() (all []passed) {
	f.t.Helper()
	for _, p := range f.members {
		var holder string
		for line := range strings.Lines(p.log.String()) {
			if m := tookLine.FindStringSubmatch(line); m != nil {
				holder = m[1]
			}
			if m := passLine.FindStringSubmatch(line); m != nil {
				at, err := time.Parse(time.RFC3339Nano, m[1])
				term, _ := strconv.ParseInt(m[2], 10, 64) // \d+
				if err != nil || holder == "" {
					f.t.Errorf("%q after %q: %v", line, holder, err)
				}
				all = append(all, passed{at, holder, term})
			}
		}
	}
	slices.SortFunc(all, func(a, b passed) int { return a.at.Compare(b.at) })
	return all
}

// check wants no term with two holders, no lease taken early, a pass at least
// once in two intervals and the slack given, and each job taken back once.
func (f *racers) check(slack time.Duration) {
	f.t.Helper()
	holders := map[int64]string{}
	changes := f.changes()
	for _, c := range changes {
		if wrong := c.wrong(3 * f.every); wrong != "" {
			f.t.Errorf("%s: %+v", wrong, c)
		}
		if had := holders[c.term]; had != "" && had != c.holder {
			f.t.Errorf("term %d has the holders %s and %s", c.term, had, c.holder)
		}
		holders[c.term] = c.holder
	}
	passes := f.passes()
	for _, p := range passes {
		if holders[p.term] != p.holder {
			f.t.Errorf("%s passed under term %d of %q", p.holder, p.term, holders[p.term])
		}
	}
	if len(holders) < 1+len(f.blows) || len(passes) < len(holders) {
		f.t.Errorf("%d terms and %d passes after %d blows", len(holders), len(passes), len(f.blows))
	}
	peace, loss := f.gaps(passes, slack)
	f.t.Logf("%d replicas, %d blows: %d changes of the lease, %d terms, %d passes; longest without one %v of a live holder (interval %v), %v of a lost one; slack %v",
		len(f.members), len(f.blows), len(changes), len(holders), len(passes), peace, f.every, loss, slack)
	f.reapedOnce()
}

// gaps are the longest times between two passes, while a holder lived and when
// it was struck.
func (f *racers) gaps(passes []passed, slack time.Duration) (peace, loss time.Duration) {
	f.t.Helper()
	for i := 1; i < len(passes); i++ {
		from, to := passes[i-1].at, passes[i].at
		gap := to.Sub(from)
		struck := slices.ContainsFunc(f.blows, func(b blow) bool { return b.at.After(from.Add(-f.every)) && b.at.Before(to) })
		most, longest := 2*f.every, &peace
		if struck {
			most, longest = 3*f.every+2*f.every, &loss // a lease, and the next one's wait
		}
		*longest = max(*longest, gap)
		if gap > most+slack {
			f.t.Errorf("no pass for %v, struck %v; at most %v and %v", gap, struck, most, slack)
		}
	}
	return peace, loss
}

// reapedOnce wants each overdue job to have come back once.
func (f *racers) reapedOnce() {
	f.t.Helper()
	apitest.Await(f.t, "every overdue job is back", func() bool {
		return f.db.number("select count(*) from jobs where state = 'claimed'") == 0
	})
	for _, j := range f.jobs {
		got := fmt.Sprint(f.db.query("select j.state, j.attempt, r.status, r.terminal_reason from jobs j join runs r on r.job_id = j.id where j.id = $1", j.id))
		if got != "[[pending 1 abandoned lease_expired]]" {
			f.t.Errorf("%s: %s", j.id, got)
		}
	}
}

// The check of the race finds what it is there for.
func TestCheckOfLeasesFindsWhatItForbids(t *testing.T) {
	t.Parallel()
	at := dbtest.T0.Time
	good := change{at: at, taken: at, expires: at.Add(3 * time.Second), holder: "b", term: 2, oldHolder: "a", oldTerm: 1, oldExpires: at.Add(-time.Millisecond)}
	for name, tt := range map[string]struct {
		change func(c *change)
		ok     bool
	}{
		"a take in its time":  {func(*change) {}, true},
		"a renewal":           {func(c *change) { c.oldHolder, c.oldTerm, c.oldExpires = "b", 2, at.Add(time.Second) }, true},
		"the first":           {func(c *change) { *c = change{at: at, expires: at, holder: "a", term: 1, first: true} }, true},
		"a second first":      {func(c *change) { *c = change{at: at, expires: at, holder: "a", term: 2, first: true} }, false},
		"one term of two":     {func(c *change) { c.term = 1 }, false},
		"a term left out":     {func(c *change) { c.term = 3 }, false},
		"a term of a renewal": {func(c *change) { c.oldHolder, c.oldExpires = "b", at.Add(time.Second) }, false},
		"an early take":       {func(c *change) { c.oldExpires = at.Add(time.Second) }, false},
		"a fast clock":        {func(c *change) { c.taken, c.oldExpires = at.Add(time.Minute), at.Add(time.Second) }, false},
		"a late end":          {func(c *change) { c.expires = at.Add(time.Minute) }, false},
	} {
		c := good
		if tt.change(&c); (c.wrong(3*time.Second) == "") != tt.ok {
			t.Errorf("%s: %q", name, c.wrong(3*time.Second))
		}
	}
}

// CRA-01, CRA-03, CLM-18: server and worker die at once. The next start takes
// the lease when that of the dead has run out, and ends what they left.
func TestNextStartTakesBackWhatADeadServerLeft(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{store.SQLite, store.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			p := start(t, engine, "--reap-every", "200ms")
			p.Must(201, "/v1/jobs", `{"kind":"sync","key":"k","max_attempts":1}`)
			last := claim(p.Client, "sync")
			p.Must(201, "/v1/jobs", `{"kind":"review"}`)
			more := claim(p.Client, "review")
			apitest.Await(t, "the reaper's lease", func() bool { return strings.Contains(p.Get("/v1/leases").String(), `"run-reaper"`) })
			p.kill9()
			term := p.db.number("select term from leases where name = 'run-reaper'")
			for _, j := range []held{last, more} {
				p.db.lease(j.id, p.store.Now().Add(-time.Minute))
			}
			p.restart()
			awaitState(t, p.Client, last.id, "failed")
			awaitState(t, p.Client, more.id, "pending")
			for _, j := range []held{last, more} {
				if a := p.Get("/v1/runs/" + j.run); a.Str("status") != "abandoned" || a.Str("terminal_reason") != "lease_expired" || a.At("completed_at") == nil {
					t.Errorf("the run: %s", a)
				}
			}
			if now := p.db.number("select term from leases where name = 'run-reaper'"); now != term+1 {
				t.Errorf("term %d after %d", now, term)
			}
			p.Must(201, "/v1/jobs", `{"kind":"sync","key":"k"}`) // the key is free again
		})
	}
}

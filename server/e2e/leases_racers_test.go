package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// skews are how wrong the wall clocks of replicas that race are.
var skews = []string{"0s", "3m", "-3m", "90s", "-90s", "10m", "-10m", "2h"}

// racers are replicas on one PostgreSQL, with wrong clocks, that race for the
// reaper's lease. A trigger of the test's keeps every change of a lease.
type racers struct {
	t       *testing.T
	s       *store.Store
	db      *beside
	every   time.Duration
	members []*process
	blows   []blow
	jobs    []held
}

// blow is what was done to a holder, and when.
type blow struct {
	what string
	at   time.Time
}

// auditing keeps, for each change of a lease, the row of before and after, and
// when it was made by the clock of the database.
var auditing = []string{
	`create table lease_audit (seq bigserial primary key, at timestamptz not null, holder text not null, term bigint not null,
		taken_at timestamptz not null, expires_at timestamptz not null, old_holder text, old_term bigint, old_expires_at timestamptz)`,
	`create function audit_lease() returns trigger language plpgsql as $$ begin
		insert into lease_audit (at, holder, term, taken_at, expires_at, old_holder, old_term, old_expires_at)
		values (clock_timestamp(), new.holder, new.term, new.taken_at, new.expires_at, old.holder, old.term, old.expires_at);
		return new; end $$`,
	`create trigger audit_lease after insert or update on leases for each row when (new.name = 'run-reaper') execute function audit_lease()`,
}

func newRacers(t *testing.T, size int, every time.Duration) *racers {
	t.Helper()
	s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)})
	f := &racers{t: t, s: s, db: lookBeside(t, dbtest.URLOf(t, s)), every: every}
	for _, statement := range auditing {
		f.db.exec(statement)
	}
	token := apitest.Token(t, s, "ada", "admin")
	for i := range size {
		p := newProcess(t, dbtest.URLOf(t, s), "--reap-every", every.String(), "--drain-delay", "0s", "--pg-max-conns", "4", "--verbose")
		// A lease may wait no longer than the product does, so its waits count too.
		p.env = []string{"STINT_TEST_CLOCK_SKEW=" + skews[i%len(skews)], apitest.ProductWaits}
		p.Token = token
		p.launch()
		f.members = append(f.members, p)
	}
	for _, p := range f.members {
		p.awaitReady()
	}
	return f
}

var pidOf = regexp.MustCompile(`-(\d+)-[a-z2-7]{8}$`)

// holder waits until one of the members has the lease, by the database's clock.
func (f *racers) holder() (p *process, term int64) {
	f.t.Helper()
	apitest.Await(f.t, "a member has the lease", func() bool {
		rows := f.db.query("select holder, term from leases where name = 'run-reaper' and expires_at > clock_timestamp()")
		if len(rows) == 0 {
			return false
		}
		pid := pidOf.FindStringSubmatch(rows[0][0].(string))[1]
		i := slices.IndexFunc(f.members, func(p *process) bool { return strconv.Itoa(p.cmd.Process.Pid) == pid })
		if i < 0 {
			return false // it was replaced by its next start, and its lease runs out
		}
		p, term = f.members[i], rows[0][1].(int64)
		return true
	})
	return p, term
}

// after waits until a later term than that runs.
func (f *racers) after(term int64) {
	f.t.Helper()
	apitest.Await(f.t, fmt.Sprint("a term after ", term), func() bool {
		return f.db.number("select count(*) from leases where name = 'run-reaper' and expires_at > clock_timestamp() and term > $1", term) == 1
	})
}

// strike does something to the holder, waits for the next one, and brings the
// replica back.
func (f *racers) strike(what string) {
	f.t.Helper()
	p, term := f.holder()
	f.overdue(p)
	f.blows = append(f.blows, blow{what, time.Now()})
	switch what {
	case "kill":
		p.kill9()
	case "stop":
		p.signal(syscall.SIGSTOP)
	case "drain":
		p.signal(syscall.SIGTERM)
		if code := p.exit(40 * time.Second); code != 0 {
			f.t.Errorf("exit code %d", code)
		}
	}
	f.after(term)
	if what == "stop" {
		p.signal(syscall.SIGCONT)
	} else {
		p.restart()
	}
}

// overdue leaves the reaper a job whose lease ended.
func (f *racers) overdue(p *process) {
	f.t.Helper()
	j := claimed(p.Client)
	f.db.lease(j.id, f.s.Now().Add(-time.Minute))
	f.jobs = append(f.jobs, j)
}

// race strikes for as long as that, and at least once in each way.
func (f *racers) race(d time.Duration) {
	f.t.Helper()
	ways := []string{"kill", "stop", "drain"}
	for began, i := time.Now(), 0; i < len(ways) || time.Since(began) < d; i++ {
		way := ways[i%len(ways)]
		if i >= len(ways) {
			way = ways[rand.N(len(ways))]
		}
		f.strike(way)
		pause, cancel := context.WithTimeout(f.t.Context(), rand.N(2*f.every)) // a holder in peace
		<-pause.Done()
		cancel()
	}
}

// change is a row of the audit.
type change struct {
	at, taken, expires time.Time
	holder             string
	term               int64
	oldHolder          string
	oldTerm            int64
	oldExpires         time.Time
	first              bool
}

func (f *racers) changes() (all []change) {
	f.t.Helper()
	for _, r := range f.db.query("select at, holder, term, taken_at, expires_at, old_holder, old_term, old_expires_at from lease_audit order by seq") {
		c := change{at: r[0].(time.Time), holder: r[1].(string), term: r[2].(int64), taken: r[3].(time.Time), expires: r[4].(time.Time), first: r[5] == nil}
		if !c.first {
			c.oldHolder, c.oldTerm, c.oldExpires = r[5].(string), r[6].(int64), r[7].(time.Time)
		}
		all = append(all, c)
	}
	return all
}

// clockError is how far two replicas' measures of the database's clock may lie
// apart: half a round trip each, on a machine that is busy.
const clockError = 500 * time.Millisecond

// wrong says which promise a change of the lease breaks, "" if none. The
// database's own clock decides; no replica's wall clock counts.
func (c change) wrong(ttl time.Duration) string {
	switch {
	case c.expires.Sub(c.at) > ttl+clockError:
		return "it ends later than a lease lasts: written by a clock of somebody's own"
	case c.first && c.term != 1:
		return "the first term is not 1"
	case c.first:
		return ""
	case c.holder == c.oldHolder && c.term != c.oldTerm:
		return "a renewal began a term"
	case c.holder == c.oldHolder:
		return ""
	case c.term != c.oldTerm+1:
		return "the next holder has not the next term"
	case c.taken.Before(c.oldExpires) || c.at.Before(c.oldExpires.Add(-clockError)):
		return "it was taken before it had ended"
	}
	return ""
}

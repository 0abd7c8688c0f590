package doctor

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/store/inspect"
)

// oldestMajor can parse the schema; the suite was run on testedMajor and
// newestMajor.
const oldestMajor, testedMajor, newestMajor = 14, 15, 18

func (e *exam) postgres(ctx context.Context) error {
	if err := e.schema(ctx); err != nil {
		return err
	}
	p, err := inspect.OpenPostgres(ctx, e.URL)
	if err != nil {
		return err
	}
	defer p.Close(context.WithoutCancel(ctx))
	e.indexes(ctx)
	e.skew(ctx, p)
	s, err := p.Server(ctx)
	if err != nil {
		e.unmeasured("version", "", err)
		return nil
	}
	e.version(s)
	e.encoding(s)
	e.encryption(s)
	e.durability(s)
	e.connections(s)
	e.pool(s)
	e.autovacuum(s)
	e.tables(ctx, p)
	e.transactions(ctx, p, s)
	e.slots(ctx, p)
	e.wal(ctx, p, s)
	return nil
}

// skew takes the answer to stem from the middle of the shortest of three trips.
func (e *exam) skew(ctx context.Context, p *inspect.Postgres) {
	var best, trip time.Duration
	for try := range 3 {
		sent, err := store.Wall()
		if err != nil {
			e.unmeasured("clock_skew", "s", err)
			return
		}
		at, err := p.Clock(ctx)
		if err != nil {
			e.unmeasured("clock_skew", "s", err)
			return
		}
		got, _ := store.Wall()
		if took := got.Sub(sent); try == 0 || took < trip {
			trip, best = took, sent.Add(took/2).Sub(at)
		}
	}
	e.clock(best, fmt.Sprintf("this machine's clock less the database's, ± %d ms; leases and stored times follow the database's", (trip/2).Milliseconds()+1))
}

func (e *exam) version(s inspect.Server) {
	c := Check{ID: "version", State: OK, Value: s.Version, Detail: fmt.Sprintf("PostgreSQL %d and newer can run the schema; %d and %d are what was tested", oldestMajor, testedMajor, newestMajor)}
	if s.Major < oldestMajor {
		c.State, c.Advice = Fail, fmt.Sprintf("upgrade the server to PostgreSQL %d or newer", testedMajor)
	}
	e.add(c)
}

// encoding: a server of ours refuses to start on another one.
func (e *exam) encoding(s inspect.Server) {
	c := Check{ID: "encoding", State: OK, Value: s.Encoding, Detail: "of the database; connections of Stint speak UTF8, whatever a role or a database sets"}
	if s.Encoding != "UTF8" {
		c.State, c.Detail = Fail, "the database cannot hold every text, or does not know it as text"
		c.Advice = schema.CreateDatabase(s.Database+"_utf8") + ", then stint backup create from this one and stint backup restore into that one"
	}
	e.add(c)
}

func (e *exam) encryption(s inspect.Server) {
	host, _, _ := net.SplitHostPort(s.Address)
	ip := net.ParseIP(host)
	c := Check{ID: "encryption", State: OK, Value: "on", Detail: "the connection to " + s.Address + " is encrypted"}
	switch {
	case s.Address == "":
		c.Value, c.Detail = "not needed", "the connection is a local socket"
	case s.Encrypted:
	case ip != nil && ip.IsLoopback():
		c.Value, c.Detail = "not needed", "the connection stays on this machine"
	default:
		c.State, c.Value, c.Detail, c.Advice = Warn, "off", "the connection to "+s.Address+" is readable on the way", "use sslmode=verify-full with sslrootcert"
	}
	e.add(c)
}

// durability: what was answered is on disk only if the server puts it there.
// Stint's own sessions set synchronous_commit where it is off.
func (e *exam) durability(s inspect.Server) {
	c := Check{ID: "durability", State: OK, Value: "full", Detail: "fsync and full_page_writes are on, synchronous_commit is " + s.SynchronousCommit}
	switch {
	case !s.Fsync:
		c.State, c.Value, c.Detail, c.Advice = Fail, "fsync off", "a power failure can destroy the database", "set fsync = on"
	case !s.FullPageWrites:
		c.State, c.Value, c.Detail, c.Advice = Fail, "full_page_writes off", "a power failure can destroy pages", "set full_page_writes = on, unless the file system cannot tear pages"
	case s.SynchronousCommit == "off":
		c.State, c.Value, c.Detail, c.Advice = Warn, "synchronous_commit off", "Stint sets it on in its own sessions; what others commit may be lost", "set synchronous_commit = on"
	}
	e.add(c)
}

func (e *exam) connections(s inspect.Server) {
	share := float64(s.InUse) / float64(max(1, s.Available))
	e.add(Check{
		ID: "connections", State: above(share, e.Limits.ConnectionsWarn, e.Limits.ConnectionsFail), Value: s.InUse, Unit: "connections",
		Detail: fmt.Sprintf("of %d: max_connections without what is reserved", s.Available), Advice: "end idle sessions, make pools smaller, or raise max_connections",
	})
}

// pool: every connection of the server's pool, its two beside the pool (for
// readiness and the clock, and for notifications), and the two of a migration have
// to find a place beside those of others.
func (e *exam) pool(s inspect.Server) {
	size := e.Server.Replica.Pool.Max
	if !e.Server.Answered || e.Server.Replica.Engine != store.Postgres || size == 0 {
		e.add(Check{ID: "pool", State: Unknown, Unit: "connections", Detail: "no server says how large its pool is", Advice: "name one with --server"})
		return
	}
	const besides = 2 + 2
	c := Check{
		ID: "pool", State: OK, Value: size, Unit: "connections", Detail: fmt.Sprintf("the server's pool, %d of it in use; the database has room for %d", e.Server.Replica.Pool.InUse, s.Available),
		Advice: "replicas × (pool size + 2) + 2 must fit: make --pg-max-conns smaller or max_connections larger",
	}
	switch {
	case size > s.Available:
		c.State = Fail
	case size+besides > s.Available:
		c.State = Warn
	}
	e.add(c)
}

// hotTables are those whose rows change the most.
var hotTables = []string{"jobs", "runs", "idempotency_keys"}

// fewDead is the number of dead rows below which no share of them matters.
const fewDead = 1000

func (e *exam) autovacuum(s inspect.Server) {
	c := Check{ID: "autovacuum", State: OK, Value: "on", Detail: "autovacuum and track_counts are on"}
	if !s.Autovacuum || !s.TrackCounts {
		c.State, c.Value, c.Detail, c.Advice = Fail, "off", "dead rows are never removed", "set autovacuum = on and track_counts = on"
	}
	e.add(c)
}

func (e *exam) tables(ctx context.Context, p *inspect.Postgres) {
	tables, err := p.Tables(ctx, hotTables)
	if err != nil {
		e.unmeasured("vacuum", "dead rows", err)
		return
	}
	for _, t := range tables {
		e.add(e.vacuum(t))
	}
}

func (e *exam) vacuum(t inspect.Table) Check {
	c := Check{
		ID: "vacuum_" + t.Name, State: OK, Value: t.Dead, Unit: "dead rows",
		Detail: fmt.Sprintf("beside %d live ones; autovacuum starts at %.0f; last vacuum %s", t.Live, t.Trigger, ago(t.Since)),
		Advice: "look for long transactions below; else vacuum " + t.Name + ", and raise autovacuum_max_workers or its cost limit",
	}
	if t.Dead >= fewDead {
		c.State = above(float64(t.Dead), e.Limits.DeadWarn*t.Trigger, e.Limits.DeadFail*t.Trigger)
	}
	if !t.Enabled {
		c.State, c.Detail, c.Advice = Fail, "autovacuum is off for it; "+c.Detail, "alter table "+t.Name+" reset (autovacuum_enabled)"
	}
	return c
}

func ago(seconds *float64) string {
	if seconds == nil {
		return "never"
	}
	return time.Duration(*seconds*float64(time.Second)).Round(time.Second).String() + " ago"
}

package store

import (
	"cmp"
	"fmt"
	"time"
)

// Waits bound how long the store waits for somebody else. A zero member takes
// the product's value, which is named at each.
type Waits struct {
	// Conn bounds the wait for a PostgreSQL connection, a new one included: 1.5 s,
	// so that a request is refused within 2 s while the database is away.
	Conn time.Duration
	// Lock is PostgreSQL's lock_timeout: 2 s, so that what waits for a lock gives
	// up before the shortest lease ends. Whole milliseconds.
	Lock time.Duration
	// Statement stops a PostgreSQL statement that runs away, and a transaction
	// whose process hangs: 15 s. Whole milliseconds.
	Statement time.Duration
	// Writer bounds how long a transaction queues for SQLite's one writer, and for
	// another process that writes: 5 s. Whole milliseconds.
	Writer time.Duration
	// Read bounds a read on SQLite, the wait for a reader and the way to its first
	// row: 15 s.
	Read time.Duration
	// Commit bounds a COMMIT, whatever became of the request: 5 s.
	Commit time.Duration
}

var productWaits = Waits{
	Conn: 1500 * time.Millisecond, Lock: 2 * time.Second, Statement: 15 * time.Second,
	Writer: 5 * time.Second, Read: 15 * time.Second, Commit: 5 * time.Second,
}

// Or is w with the values of others where it has none.
func (w Waits) Or(others Waits) Waits {
	return Waits{
		Conn:      cmp.Or(w.Conn, others.Conn),
		Lock:      cmp.Or(w.Lock, others.Lock),
		Statement: cmp.Or(w.Statement, others.Statement),
		Writer:    cmp.Or(w.Writer, others.Writer),
		Read:      cmp.Or(w.Read, others.Read),
		Commit:    cmp.Or(w.Commit, others.Commit),
	}
}

// beside bounds a question on the connection beside the pool: what asks it has
// to answer within a second itself.
func (w Waits) beside() time.Duration { return w.Conn / 3 }

// probe bounds all that a probe asks.
func (w Waits) probe() time.Duration { return w.Conn / 2 }

// genericPlans makes PostgreSQL plan a prepared statement once per connection: it
// takes a claim's plan for dearer than one made for the arguments at hand, and
// would make that anew at each call, for more time than the claim itself takes.
// Every statement has one plan that is right for all arguments; server/plans
// holds that. Such a plan is kept while a table grows from a few rows to many, so
// none may read all of a table, for which every statement has an index, nor all of
// both sides of a join.
const genericPlans = "set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; "

// stayOpen keeps a role's time-out off the pool's connections, which lie idle.
const stayOpen = "set idle_session_timeout = 0; "

// settings is the SQL that every connection begins with, or with local every
// transaction, whose statements are not prepared: the time-outs, and that what
// was committed is on disk. They are SET, not start-up parameters, which
// pgbouncer refuses; those are schema.PoolConfig's.
func (w Waits) settings(local bool) string {
	set, session := "set", genericPlans+stayOpen
	if local {
		set, session = "set local", ""
	}
	return session + fmt.Sprintf(`%[1]s lock_timeout = '%[2]dms'; %[1]s statement_timeout = '%[3]dms';`+
		` %[1]s idle_in_transaction_session_timeout = '%[3]dms';`+
		` select set_config('synchronous_commit', 'on', %[4]t) where current_setting('synchronous_commit') = 'off'`,
		set, w.Lock.Milliseconds(), w.Statement.Milliseconds(), local)
}

// busyTimeout is the PRAGMA by which a connection waits for another process.
func (w Waits) busyTimeout() string {
	return fmt.Sprintf("busy_timeout(%d)", w.Writer.Milliseconds())
}

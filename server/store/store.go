package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
)

// Durability is what SQLite guarantees of a committed transaction.
type Durability string

// Full, the default, survives a power failure; Normal may lose the last
// transactions in one, never the database's integrity.
const (
	Full   Durability = "full"
	Normal Durability = "normal"
)

// Config says which database to open, and how.
type Config struct {
	// URL is sqlite:PATH or postgres://…
	URL string
	// ListenURL is where the listening connection goes, the database itself where
	// URL leads to a transaction pooler; "" is URL. For PostgreSQL alone.
	ListenURL string
	// MaxConns is the size of the PostgreSQL pool; 0 is the URL's
	// pool_max_conns, else 16.
	MaxConns int
	// ExecMode is how statements travel to PostgreSQL; "" is cache_statement.
	ExecMode ExecMode
	// Durability applies to SQLite; "" is full.
	Durability Durability
	// Serve makes this process the one server of an SQLite file, until Close; see
	// Hold. ErrServed says that there is one.
	Serve bool
	// Readers is the number of SQLite's reading connections; 0 is 4.
	Readers int
	// Waits bound the waits for others; tests set long ones, or a short one of
	// their own.
	Waits Waits
}

const defaultMaxConns, defaultReaders = 16, 4

func (c Config) maxConns() int {
	if c.MaxConns > 0 {
		return c.MaxConns
	}
	return defaultMaxConns
}

// Store is an open database. Its Reader reads outside a transaction, each
// statement on a connection of its own.
type Store struct {
	model.Reader
	engine     *engine
	background *engine
	clock      *Clock
	waits      Waits
}

// engine is what the two databases do differently.
type engine struct {
	name           string
	reads          model.Reader
	begin          func(ctx context.Context) (txn, error)
	ping, tryWrite func(ctx context.Context) error
	maintain       func(ctx context.Context) error
	note           func(err error)                                 // how a transaction ended
	troubles       func() int64                                    // see Store.Troubles
	beside         *sql.DB                                         // one connection that no request uses
	notify         func(ctx context.Context, texts []string) error // nil: for one process alone
	listen         func(ctx context.Context) (*Line, error)
	pools          func() []PoolStats
	logBytes       func() int64 // of SQLite's write-ahead log
	close          func()
}

// PoolStats is the state of one pool: "main" on PostgreSQL, "writer" and
// "reader" on SQLite.
type PoolStats struct {
	Name             string
	Max, Open, InUse int
	Waited           int64         // how often somebody had to wait for a connection
	WaitedFor        time.Duration // in all
}

// Pool is the state of a Store's connections.
type Pool struct {
	Max, Open, InUse int
	// Waited counts how often somebody had to wait for one.
	Waited int64
	// LogBytes is the size of SQLite's write-ahead log.
	LogBytes int64
}

// Open opens the pools of a database; it creates and migrates nothing but the
// empty file of SQLite. A PostgreSQL server that is away is no error: calls
// fail with 503 until it is there.
func Open(ctx context.Context, c Config) (*Store, error) {
	waits, err := testWaits()
	if err != nil {
		return nil, err
	}
	c.Waits = c.Waits.Or(waits).Or(productWaits)
	kind, err := EngineOf(c.URL)
	if err != nil {
		return nil, err
	}
	if kind == SQLite {
		return openLite(ctx, c)
	}
	p, err := openPostgres(c)
	if err != nil {
		return nil, err
	}
	clock, err := newClock(p.beside.now)
	if err != nil {
		p.close()
		return nil, err
	}
	return newStore(p.engine(), p.background().engine(), clock, c.Waits), nil
}

func openLite(ctx context.Context, c Config) (*Store, error) {
	switch c.Durability {
	case Full, Normal, "":
	default:
		return nil, badSetting("durability %q is neither full nor normal", string(c.Durability))
	}
	if c.Readers <= 0 {
		c.Readers = defaultReaders
	}
	clock, err := newClock(nil)
	if err != nil {
		return nil, err
	}
	l, err := openSQLite(ctx, c)
	if err != nil {
		return nil, err
	}
	return newStore(l.engine(), l.engine(), clock, c.Waits), nil
}

func newStore(e, background *engine, clock *Clock, w Waits) *Store {
	return &Store{Reader: e.reads, engine: e, background: background, clock: clock, waits: w}
}

// Background is the same store for background passes: on PostgreSQL they take
// at most half of the connections together. Close the store itself, not this.
func (s *Store) Background() *Store {
	return newStore(s.background, s.background, s.clock, s.waits)
}

// View is the same database and pools under a clock of its own, for tests that
// share a store: SetClock on it moves nobody else's time. Close the store itself,
// not this.
func (s *Store) View() *Store {
	return newStore(s.engine, s.background, clockOf(s.clock.read, s.clock.measure), s.waits)
}

// Close ends all connections.
func (s *Store) Close() { s.engine.close() }

// Engine is "postgres" or "sqlite".
func (s *Store) Engine() string { return s.engine.name }

// Ping reports why the database cannot be reached, or takes no writes at all. Like
// TryWrite and Gap it needs none of the connections that requests use.
func (s *Store) Ping(ctx context.Context) error { return Explain(s.engine.ping(ctx)) }

// TryWrite reports why the transactions of this process fail, or would: it tries a
// write, and goes by how those of the last seconds fared. The tables must be there.
func (s *Store) TryWrite(ctx context.Context) error {
	err := s.engine.tryWrite(ctx)
	if word := Cause(err); word != "" {
		return fault.Unavailable(details[word]).After(retryAfter).Because(err)
	}
	return err
}

// Troubles counts the requests that could not have a connection, and those whose
// writes the database refused: what a probe found before the last of them is old.
func (s *Store) Troubles() int64 { return s.engine.troubles() }

// ProbeWait bounds a probe of all that the database must do: 750 ms, so that it
// is answered within the second that most who probe wait.
func (s *Store) ProbeWait() time.Duration { return s.waits.probe() }

// Gap is the difference between the database's schema and this build's.
func (s *Store) Gap(ctx context.Context) (schema.Gap, error) {
	ctx, cancel := context.WithTimeout(ctx, s.waits.Conn)
	defer cancel()
	gap, err := schema.Pending(ctx, s.engine.name, s.engine.beside)
	return gap, Explain(err)
}

// Maintain keeps SQLite's write-ahead log small; the loop runner calls it
// every MaintainEvery. On PostgreSQL it does nothing.
func (s *Store) Maintain(ctx context.Context) error { return Explain(s.engine.maintain(ctx)) }

// MaintainEvery is how often the loop runner should call Maintain.
const MaintainEvery = 20 * time.Second

// Pools is the state of each pool.
func (s *Store) Pools() []PoolStats { return s.engine.pools() }

// Pool is the state of the connections of all pools.
func (s *Store) Pool() Pool {
	all := Pool{LogBytes: s.engine.logBytes()}
	for _, p := range s.Pools() {
		all.Max, all.Open, all.InUse, all.Waited = all.Max+p.Max, all.Open+p.Open, all.InUse+p.InUse, all.Waited+p.Waited
	}
	return all
}

// Time is the database's time now; see Clock. It fails with 503 while no time
// can be vouched for: nothing was measured yet, or the process slept, and the
// database is away.
func (s *Store) Time(ctx context.Context) (coltype.Time, error) {
	now, err := s.clock.Time(ctx)
	return now, Explain(err)
}

// TxTime is the time within a transaction. It asks nobody, since that would take
// a second connection while the first is held: Tx has measured before. If the
// process slept since, its error makes Tx begin anew.
func (s *Store) TxTime() (coltype.Time, error) {
	now, ok := s.clock.within()
	if !ok {
		return coltype.Time{}, errClockMoved
	}
	return now, nil
}

// Now is Time for callers without a context; the zero Time, which no column
// that must hold a time accepts, where Time would fail.
func (s *Store) Now() coltype.Time {
	ctx, cancel := context.WithTimeout(context.Background(), s.waits.Conn)
	defer cancel()
	now, err := s.clock.Time(ctx)
	if err != nil {
		return coltype.Time{}
	}
	return now
}

// Remeasure asks the database for its time now. The loop runner calls it every
// RemeasureEvery; claim, heartbeat and lease_take read Now again after commit.
func (s *Store) Remeasure(ctx context.Context) error { return Explain(s.clock.Remeasure(ctx)) }

// SetClock makes fn the clock; for tests that come in over HTTP. Operations
// take now as an argument and need none of it.
func (s *Store) SetClock(fn func() coltype.Time) { s.clock.fix(fn) }

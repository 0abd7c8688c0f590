package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/stint-run/stint/gen/model"
	gen "github.com/stint-run/stint/gen/postgres"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/schema/coltype"
)

// ExecMode is how statements travel to PostgreSQL.
type ExecMode string

// The exec modes. CacheStatement, the default, prepares each statement once
// per connection and needs a direct connection or a session pooler. The others
// work through a transaction pooler: time-outs are then set per transaction,
// and a statement outside one has only the caller's deadline.
const (
	CacheStatement ExecMode = "cache_statement"
	CacheDescribe  ExecMode = "cache_describe"
	Exec           ExecMode = "exec"
	Simple         ExecMode = "simple"
)

func (m ExecMode) pgx() (pgx.QueryExecMode, error) {
	switch m {
	case CacheStatement, "":
		return pgx.QueryExecModeCacheStatement, nil
	case CacheDescribe:
		return pgx.QueryExecModeCacheDescribe, nil
	case Exec:
		return pgx.QueryExecModeExec, nil
	case Simple:
		return pgx.QueryExecModeSimpleProtocol, nil
	}
	return 0, badSetting("exec mode %q is none of cache_statement, cache_describe, exec, simple", string(m))
}

// pg is the PostgreSQL engine: one pool, opened when it is first needed.
type pg struct {
	pool   *pgxpool.Pool
	queue  *pgQueue
	beside *pgBeside
	seen   *writing
	line   *pgx.ConnConfig // of the listening connection
	begin  string          // opens a transaction
	wait   time.Duration   // for a connection
	doubt  time.Duration   // how long a statement may be silent before that is looked into
	most   time.Duration   // for a statement
	gate   chan struct{}   // holds a place per connection that may be taken; nil = all
}

func openPostgres(c Config) (*pg, error) {
	config, err := poolConfig(c)
	if err != nil {
		return nil, err
	}
	line, err := lineConfig(c)
	if err != nil {
		return nil, err
	}
	// Nothing connects here: a database that is away makes requests fail, not the start.
	config.ConnConfig.OnNotification = unheard
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("open the pool of %s: %w", Redact(c.URL), err)
	}
	p := &pg{
		pool:   pool,
		queue:  newQueue(pool),
		beside: newBeside(config, c.Waits),
		seen:   &writing{},
		line:   line,
		begin:  "begin isolation level read committed",
		wait:   c.Waits.Conn,
		doubt:  c.Waits.Conn / 6,
		most:   c.Waits.Statement + c.Waits.Conn,
	}
	if pooled(config) {
		p.begin += "; " + c.Waits.settings(true)
	}
	return p, nil
}

func poolConfig(c Config) (*pgxpool.Config, error) {
	config, err := schema.PoolConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Redact(c.URL), err)
	}
	if err := setMode(config, c); err != nil {
		return nil, err
	}
	if c.MaxConns > 0 || !schema.HasParam(c.URL, "pool_max_conns") {
		config.MaxConns = int32(c.maxConns())
	}
	config.ShouldPing = noteIdle
	conn := config.ConnConfig
	if conn.ConnectTimeout == 0 || conn.ConnectTimeout > c.Waits.Conn {
		conn.ConnectTimeout = c.Waits.Conn
	}
	conn.RuntimeParams["application_name"] = sessionName(cmp.Or(conn.RuntimeParams["application_name"], "stint"))
	schema.RequireUTF8(conn)
	schema.RequireWrites(conn, c.URL)
	direct, settings := !pooled(config), c.Waits.settings(false)
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		registerTypes(conn)
		if !direct {
			return nil
		}
		if _, err := conn.Exec(ctx, settings); err != nil {
			return err
		}
		return know(ctx, conn)
	}
	return config, nil
}

// setMode applies the exec mode asked for; without one the URL's own stands.
func setMode(config *pgxpool.Config, c Config) error {
	if c.ExecMode == "" && schema.HasParam(c.URL, "default_query_exec_mode") {
		return nil
	}
	mode, err := c.ExecMode.pgx()
	config.ConnConfig.DefaultQueryExecMode = mode
	return err
}

// pooled reports whether a transaction pooler is to be expected: what is SET
// there stays behind on a connection that somebody else gets next.
func pooled(config *pgxpool.Config) bool {
	return config.ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement
}

// registerTypes names the types of our columns for the modes that do not ask
// the server what an argument is.
func registerTypes(conn *pgx.Conn) {
	types := conn.TypeMap()
	types.RegisterDefaultPgType(coltype.Time{}, "timestamptz")
	types.RegisterDefaultPgType(coltype.JSON{}, "json")
}

func (p *pg) engine() *engine {
	return &engine{
		name:     Postgres,
		reads:    gen.New(pgReads{p}),
		begin:    p.beginTx,
		ping:     p.ping,
		tryWrite: p.tryWrite,
		maintain: func(context.Context) error { return nil },
		note:     p.seen.note,
		troubles: p.seen.troubles,
		beside:   p.beside.db,
		notify:   p.notify,
		listen:   p.listen,
		pools:    p.stats,
		logBytes: func() int64 { return 0 },
		close:    p.close,
	}
}

// background is p for passes: at most half of the connections, so that they
// never keep requests waiting.
func (p *pg) background() *pg {
	half := max(1, int(p.pool.Config().MaxConns)/2)
	b := *p
	b.gate = make(chan struct{}, half)
	b.seen = &writing{} // what a pass lacks says nothing about requests
	return &b
}

func (p *pg) close() {
	_ = p.beside.db.Close() // it is given up either way
	p.pool.Close()
}

func (p *pg) stats() []PoolStats {
	s := p.pool.Stat()
	return []PoolStats{{
		Name: "main", Max: int(s.MaxConns()), Open: int(s.TotalConns()), InUse: int(s.AcquiredConns()),
		Waited: p.queue.waited.Load(), WaitedFor: time.Duration(p.queue.nanos.Load()),
	}}
}

// beginTx opens a transaction within p.wait. A connection that turns out
// dead at its first use is replaced once: nothing has happened on it yet.
func (p *pg) beginTx(ctx context.Context) (txn, error) {
	until := p.deadline()
	t, took, err := p.tryBegin(ctx, until, asNeeded)
	if err != nil && took && lost(err) {
		t, _, err = p.tryBegin(ctx, p.atLeast(until), always)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// tryBegin tells too whether it took a connection.
func (p *pg) tryBegin(ctx context.Context, until time.Time, check checking) (t *pgTx, took bool, err error) {
	conn, err := p.acquire(ctx, until, check)
	if err != nil {
		return nil, false, err
	}
	s, err := conn.start(ctx)
	if err != nil {
		conn.release(nil)
		return nil, false, err
	}
	defer s.end()
	s.until = until
	var tx pgx.Tx
	s.wait(func() { tx, err = conn.BeginTx(s.ctx, pgx.TxOptions{BeginQuery: p.begin}) }) // the context ends with BEGIN
	if err != nil {
		err = fmt.Errorf("begin: %w", s.explain(err))
		conn.release(err)
		return nil, true, err
	}
	return &pgTx{conn: conn, tx: tx}, true, nil
}

// pgTx is one open transaction and the connection it holds.
type pgTx struct {
	conn  *pgConn
	tx    pgx.Tx
	err   error // what decides on the connection's fate
	wrote bool  // rows were changed
}

func (t *pgTx) querier() model.Querier { return gen.New(pgWrites{t}) }

func (t *pgTx) exec(ctx context.Context, statement string) error {
	_, err := t.run(ctx, statement)
	return err
}

func (t *pgTx) run(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	s, err := t.conn.start(ctx)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := s.exec(func(ctx context.Context) (pgconn.CommandTag, error) { return t.tx.Exec(ctx, query, args...) })
	return tag, t.note(tag, err)
}

// note remembers that the server turned out read-only or silent, or that it did
// write.
func (t *pgTx) note(tag pgconn.CommandTag, err error) error {
	t.wrote = t.wrote || !tag.Select() && tag.RowsAffected() > 0
	if schema.SQLState(err) == readOnlyTransaction || errors.Is(err, errSilent) {
		t.err = err
	}
	return err
}

func (t *pgTx) commit(ctx context.Context) error {
	err := t.tx.Commit(ctx)
	t.conn.release(errors.Join(t.err, err))
	if err == nil && t.wrote {
		t.conn.pg.seen.wrote()
	}
	return err
}

func (t *pgTx) rollback(ctx context.Context) {
	_ = t.tx.Rollback(ctx) // a failed rollback closes the connection, which rolls back
	t.conn.release(t.err)
}

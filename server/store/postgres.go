package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stint-run/stint/gen/model"
	gen "github.com/stint-run/stint/gen/postgres"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/schema/coltype"
)

// stalePing bounds the check of a connection that lay idle: one whose peer
// vanished must leave time for another within Waits.Conn.
const stalePing = 500 * time.Millisecond

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
	return 0, fmt.Errorf("exec mode %q is none of cache_statement, cache_describe, exec, simple", string(m))
}

// pg is the PostgreSQL engine: one pool, opened when it is first needed.
type pg struct {
	pool  *pgxpool.Pool
	plain *sql.DB         // a view of pool, for what reads through database/sql
	line  *pgx.ConnConfig // of the listening connection
	begin string          // opens a transaction
	wait  time.Duration   // for a connection
	gate  chan struct{}   // holds a place per connection that may be taken; nil = all
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
	p := &pg{pool: pool, plain: stdlib.OpenDBFromPool(pool), line: line, begin: "begin isolation level read committed", wait: c.Waits.Conn}
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
	config.PingTimeout = stalePing
	conn := config.ConnConfig
	if conn.ConnectTimeout == 0 || conn.ConnectTimeout > c.Waits.Conn {
		conn.ConnectTimeout = c.Waits.Conn
	}
	if conn.RuntimeParams["application_name"] == "" {
		conn.RuntimeParams["application_name"] = "stint"
	}
	schema.RequireUTF8(conn)
	schema.RequireWrites(conn, c.URL)
	direct, settings := !pooled(config), c.Waits.settings(false)
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		registerTypes(conn)
		if direct {
			_, err := conn.Exec(ctx, settings)
			return err
		}
		return nil
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
		name: Postgres, reads: gen.New(pgReads{p}), begin: p.beginTx,
		ping: p.ping, note: func(error) {}, maintain: func(context.Context) error { return nil },
		notify: p.notify, listen: p.listen,
		versions: p.plain, pools: p.stats, logBytes: func() int64 { return 0 }, close: p.close,
	}
}

// background is p for passes: at most half of the connections, so that they
// never keep requests waiting.
func (p *pg) background() *pg {
	half := max(1, int(p.pool.Config().MaxConns)/2)
	return &pg{pool: p.pool, plain: p.plain, line: p.line, begin: p.begin, wait: p.wait, gate: make(chan struct{}, half)}
}

func (p *pg) close() {
	_ = p.plain.Close() // it has no connections of its own
	p.pool.Close()
}

// ping fails on a server that takes no writes, and drops that connection.
func (p *pg) ping(ctx context.Context) error {
	conn, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	var readOnly string
	err = conn.QueryRow(ctx, "show transaction_read_only").Scan(&readOnly)
	if err == nil && readOnly == "on" {
		err = &pgconn.PgError{Severity: "ERROR", Code: readOnlyTransaction, Message: "the server is read-only"}
	}
	conn.release(err)
	return err
}

// now is the server's clock.
func (p *pg) now(ctx context.Context) (time.Time, error) {
	conn, err := p.acquire(ctx)
	if err != nil {
		return time.Time{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	var at time.Time
	err = conn.QueryRow(ctx, "select clock_timestamp()").Scan(&at)
	conn.release(err)
	return at, err
}

func (p *pg) stats() []PoolStats {
	s := p.pool.Stat()
	return []PoolStats{{
		Name: "main", Max: int(s.MaxConns()), Open: int(s.TotalConns()), InUse: int(s.AcquiredConns()),
		Waited: s.EmptyAcquireCount(), WaitedFor: s.EmptyAcquireWaitTime(),
	}}
}

// beginTx opens a transaction within p.wait. A connection that turns out
// dead at its first use is replaced once: nothing has happened on it yet.
func (p *pg) beginTx(ctx context.Context) (txn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	for try := 1; ; try++ {
		conn, err := p.acquire(ctx)
		if err != nil {
			return nil, err
		}
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: p.begin}) // ctx ends with BEGIN
		if err == nil {
			return &pgTx{conn: conn, tx: tx}, nil
		}
		conn.release(err)
		if try == 2 || !lost(err) {
			return nil, fmt.Errorf("begin: %w", err)
		}
	}
}

// acquire takes a connection within p.wait.
func (p *pg) acquire(ctx context.Context) (*pgConn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.wait)
	defer cancel()
	if p.gate != nil {
		select {
		case p.gate <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a connection: %w", ctx.Err())
		}
	}
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		p.leave()
		return nil, fmt.Errorf("take a connection: %w", err)
	}
	return &pgConn{Conn: conn, pg: p}, nil
}

func (p *pg) leave() {
	if p.gate != nil {
		<-p.gate
	}
}

// pgConn is a connection taken from the pool.
type pgConn struct {
	*pgxpool.Conn
	pg *pg
}

// release gives the connection back after err. After a failover the pool can
// be full of connections to a server that takes no writes any more (25006):
// such a one is closed, so that the next one finds the new primary.
func (c *pgConn) release(err error) {
	if schema.SQLState(err) == readOnlyTransaction {
		ctx, cancel := context.WithTimeout(context.Background(), stalePing)
		defer cancel()
		_ = c.Conn.Conn().Close(ctx) // it is given up either way
	}
	c.Conn.Release()
	c.pg.leave()
}

// pgTx is one open transaction and the connection it holds.
type pgTx struct {
	conn *pgConn
	tx   pgx.Tx
	err  error // what decides on the connection's fate
}

func (t *pgTx) querier() model.Querier { return gen.New(pgWrites{t}) }

func (t *pgTx) exec(ctx context.Context, statement string) error {
	_, err := t.tx.Exec(ctx, statement)
	return t.note(err)
}

// note remembers that the server turned out read-only.
func (t *pgTx) note(err error) error {
	if schema.SQLState(err) == readOnlyTransaction {
		t.err = err
	}
	return err
}

func (t *pgTx) commit(ctx context.Context) error {
	err := t.tx.Commit(ctx)
	t.conn.release(errors.Join(t.err, err))
	return err
}

func (t *pgTx) rollback(ctx context.Context) {
	_ = t.tx.Rollback(ctx) // a failed rollback closes the connection, which rolls back
	t.conn.release(t.err)
}

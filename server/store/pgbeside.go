package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stint-run/stint/schema"
)

// pgBeside is one connection beside the pool: it tells how the database is while
// all others are in use.
type pgBeside struct {
	db   *sql.DB
	wait time.Duration // for an answer
	conn time.Duration // for a connection

	mu     sync.Mutex
	silent time.Time // when it last had no answer
}

func newBeside(pool *pgxpool.Config, w Waits) *pgBeside {
	made := stdlib.GetConnector(*pool.ConnConfig, stdlib.OptionAfterConnect(pool.AfterConnect))
	db := sql.OpenDB(&patient{Connector: made, wait: w.Conn})
	db.SetMaxOpenConns(1)
	return &pgBeside{db: db, wait: w.beside(), conn: w.Conn}
}

// patient makes connections that may take longer than whoever asks for one waits:
// the next one finds what was made meanwhile.
type patient struct {
	driver.Connector
	wait time.Duration

	mu     sync.Mutex
	making *making
	closed bool
}

type making struct {
	stop context.CancelFunc
	done chan struct{}
	conn driver.Conn
	err  error
}

// Connect is called by one at a time.
func (p *patient) Connect(ctx context.Context) (driver.Conn, error) {
	m := p.begin()
	if m == nil {
		return nil, sql.ErrConnDone
	}
	select {
	case <-m.done:
	case <-ctx.Done():
		return nil, fmt.Errorf("connect: %w", ctx.Err())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, sql.ErrConnDone
	}
	p.making = nil
	return m.conn, m.err
}

// Close is called by the pool's own: a connection that is being made must not
// outlive it.
func (p *patient) Close() error {
	p.mu.Lock()
	p.closed = true
	m := p.making
	p.mu.Unlock()
	if m == nil {
		return nil
	}
	m.stop()
	<-m.done
	if m.err != nil {
		return nil
	}
	return m.conn.Close()
}

// begin is the connection that is being made; nil once closed.
func (p *patient) begin() *making {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	if p.making == nil {
		ctx, stop := context.WithTimeout(context.Background(), p.wait)
		p.making = &making{stop: stop, done: make(chan struct{})}
		go p.make(ctx, p.making)
	}
	return p.making
}

func (p *patient) make(ctx context.Context, m *making) {
	defer close(m.done)
	defer m.stop()
	m.conn, m.err = p.Connector.Connect(ctx)
}

// backend is the process that works for a connection; "" behind a pooler, where
// it is another one each time.
type backend struct {
	server string // tells it from its like on other hosts, and from before a restart
	pid    int32
}

const backendKey = "stint backend"

// know has the connection remember its backend.
func know(ctx context.Context, conn *pgx.Conn) error {
	var b backend
	err := conn.QueryRow(ctx, "select pg_postmaster_start_time()::text, pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&b.server, &b.pid)
	conn.PgConn().CustomData()[backendKey] = b
	return err
}

func (c *pgConn) backend() backend {
	b, _ := c.Conn.Conn().PgConn().CustomData()[backendKey].(backend)
	return b
}

// worksOn reports whether a backend works on a statement; true where that cannot
// be known. An error means that the database answers nobody.
func (b *pgBeside) worksOn(ctx context.Context, on backend) (works bool, err error) {
	if b.wasSilent() {
		return false, errSilent
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.wait)
	defer cancel()
	err = b.db.QueryRowContext(ctx, `select $1 <> pg_postmaster_start_time()::text or exists (
		select from pg_stat_activity where pid = $2 and coalesce(state, '') not like 'idle%')`, on.server, on.pid).Scan(&works)
	if errors.Is(err, context.DeadlineExceeded) || schema.SQLState(err) == "" && lost(err) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.silent = time.Now()
		return false, err
	}
	return works || err != nil, nil
}

// wasSilent reports whether it had no answer a moment ago: the statements that
// meet a cut line must not ask one by one.
func (b *pgBeside) wasSilent() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Since(b.silent) < b.wait
}

// now is the server's clock.
func (b *pgBeside) now(ctx context.Context) (at time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.conn)
	defer cancel()
	err = b.db.QueryRowContext(ctx, "select clock_timestamp()").Scan(&at)
	if err != nil {
		return at, fmt.Errorf("ask for the time: %w", err)
	}
	return at, nil
}

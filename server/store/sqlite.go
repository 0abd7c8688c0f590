package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"

	"github.com/stint-run/stint/gen/model"
	gen "github.com/stint-run/stint/gen/sqlite"
	"github.com/stint-run/stint/schema"
)

// walTarget is the size to which the log is cut back once it was written
// to the database; 4 MiB is what an automatic checkpoint lets it reach.
const walTarget = 4 << 20

// lite is the SQLite engine: one connection that writes, several that read.
// In WAL mode readers and the writer do not wait for each other.
type lite struct {
	path           string
	file           os.FileInfo // of the database that was opened
	writer, reader *sql.DB
	beside         *sql.DB // one connection that no request uses
	seen           writing
	release        func() // of the file's lock for its one server
	waits          Waits
}

func openSQLite(ctx context.Context, c Config) (*lite, error) {
	path, err := SQLitePath(c.URL)
	if err != nil {
		return nil, err
	}
	release, err := hold(path, c)
	if err != nil {
		return nil, err
	}
	l := &lite{path: path, release: release, waits: c.Waits}
	if err := l.connect(ctx, c); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// connect leaves a database of another program as it is, and one without its
// log: opening the writer would change its journal.
func (l *lite) connect(ctx context.Context, c Config) (err error) {
	err = schema.RefuseForeign(ctx, schema.Options{URL: c.URL})
	if code := schema.Code(err); code == schema.CodeForeign || code == schema.CodeLogLost {
		return err // any other error is met again below, and explained there
	}
	if err := schema.CreateFile(l.path); err != nil {
		return fmt.Errorf("open the database %s: %w", l.path, err)
	}
	if l.writer, err = openPool(writerDSN(l.path, c), 1); err != nil {
		return err
	}
	if l.reader, err = openPool(readerDSN(l.path, c), c.Readers); err != nil {
		return err
	}
	if l.beside, err = openPool(besideDSN(l.path, c), 1); err != nil {
		return err
	}
	if err := l.writer.PingContext(ctx); err != nil {
		return fmt.Errorf("open the database %s: %w", l.path, err)
	}
	if l.file, err = os.Stat(l.path); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	return nil
}

func openPool(dsn string, size int) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	db := sql.OpenDB(stmtConnector{connector})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

// writerDSN carries every setting of the writing connection: a PRAGMA that is
// run once would reach one connection only, and be lost when it is replaced.
func writerDSN(path string, c Config) string {
	synchronous := "full"
	if c.Durability == Normal {
		synchronous = "normal"
	}
	return schema.FileURI(path, url.Values{
		"_txlock": {"immediate"},
		"_dqs":    {"0"},
		"_pragma": {
			c.Waits.busyTimeout(),
			"journal_mode(wal)",
			"synchronous(" + synchronous + ")",
			"foreign_keys(1)",
			"wal_autocheckpoint(1000)",
			fmt.Sprintf("journal_size_limit(%d)", walTarget),
		},
	})
}

func readerDSN(path string, c Config) string {
	return schema.FileURI(path, url.Values{
		"mode": {"rw"}, // never creates the file
		"_dqs": {"0"},
		"_pragma": {
			c.Waits.busyTimeout(),
			"foreign_keys(1)",
			"query_only(1)",
		},
	})
}

// besideDSN is for the connection that tells how writers fare: it does not wait
// for them as long as they do.
func besideDSN(path string, c Config) string {
	return schema.FileURI(path, url.Values{
		"mode":    {"rw"},
		"_txlock": {"immediate"},
		"_dqs":    {"0"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", c.Waits.beside().Milliseconds()/2), "foreign_keys(1)"},
	})
}

func (l *lite) engine() *engine {
	return &engine{
		name:     SQLite,
		reads:    gen.New(liteReads{l.reader, l.waits.Read}),
		begin:    l.begin,
		ping:     l.ping,
		tryWrite: l.tryWrite,
		maintain: l.maintain,
		note:     l.seen.note,
		troubles: l.seen.troubles,
		beside:   l.beside,
		pools:    l.pools,
		logBytes: l.walBytes,
		close:    l.close,
	}
}

func (l *lite) close() {
	for _, db := range []*sql.DB{l.beside, l.reader, l.writer} {
		if db != nil {
			_ = db.Close()
		}
	}
	l.release()
}

// ping reads from the file, not just from the connection.
func (l *lite) ping(ctx context.Context) error {
	if err := l.inPlace(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, l.waits.Writer)
	defer cancel()
	var tables int
	return l.beside.QueryRowContext(ctx, "select count(*) from sqlite_schema").Scan(&tables)
}

// tryWrite writes, and leaves nothing behind. After a write that the disk refused
// the probe is committed, so that a replica is ready again only when writes are.
func (l *lite) tryWrite(ctx context.Context) error {
	_, refusal := l.seen.failed()
	err := l.probe(ctx, refusal != nil)
	if err == nil && refusal != nil {
		l.seen.wrote()
	}
	return l.seen.waited(err, l.waits.Writer)
}

func (l *lite) probe(ctx context.Context, commit bool) error {
	tx, err := l.beside.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback()
	for _, statement := range []string{
		"insert into meta (key, value) values ('write_probe', '')", "delete from meta where key = 'write_probe'",
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if !commit {
		return nil
	}
	return tx.Commit()
}

// errMoved is a database file that is no longer where it was opened: rows written
// to it would be lost with the process.
var errMoved = errors.New("the database file was removed or replaced under the server")

func (l *lite) inPlace() error {
	now, err := os.Stat(l.path)
	if err != nil || !os.SameFile(l.file, now) {
		return errMoved
	}
	return nil
}

func (l *lite) begin(ctx context.Context) (txn, error) {
	if err := l.inPlace(); err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, l.waits.Writer)
	defer cancel()
	conn, err := l.writer.Conn(wait)
	if err != nil {
		return nil, fmt.Errorf("wait for the writer: %w", l.missed(ctx, err))
	}
	// Another process may be writing; the wait for it is part of the same bound.
	// The context given to BeginTx would also end a COMMIT that has begun, so
	// it is not the caller's.
	deadline, _ := wait.Deadline()
	life, begun := startWithin(context.WithoutCancel(ctx), time.Until(deadline))
	defer begun()
	tx, err := conn.BeginTx(life, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin: %w", l.missed(ctx, err)), conn.Close())
	}
	l.seen.have()
	return &liteTx{conn: conn, tx: tx}, nil
}

// missed is the error of a wait for the writer that ended in err. It says nothing
// of the database if the caller gave up.
func (l *lite) missed(ctx context.Context, err error) error {
	if ctx.Err() != nil || !busy(err) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	l.seen.miss()
	return fmt.Errorf("%w: %w", errWriterBusy, err)
}

// maintain cuts the log back. Readers that are always there keep automatic
// checkpoints from starting the log anew, so it would grow without end. The
// writer is held for the time of the copying, never to wait for a reader.
func (l *lite) maintain(ctx context.Context) error {
	if l.walBytes() < walTarget {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, l.waits.Writer)
	defer cancel()
	conn, err := l.writer.Conn(wait)
	if err != nil {
		return fmt.Errorf("wait for the writer: %w", err)
	}
	defer conn.Close()
	for _, pragma := range []string{"busy_timeout(100)", "wal_checkpoint(truncate)", l.waits.busyTimeout()} {
		if _, err := conn.ExecContext(ctx, "pragma "+pragma); err != nil && !busy(err) {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	return nil
}

// walBytes is the size of the write-ahead log.
func (l *lite) walBytes() int64 {
	info, err := os.Stat(l.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

func (l *lite) pools() []PoolStats {
	return []PoolStats{liteStats("writer", l.writer), liteStats("reader", l.reader)}
}

func liteStats(name string, db *sql.DB) PoolStats {
	s := db.Stats()
	return PoolStats{
		Name: name, Max: s.MaxOpenConnections, Open: s.OpenConnections, InUse: s.InUse,
		Waited: s.WaitCount, WaitedFor: s.WaitDuration,
	}
}

// liteTx is one open write transaction and the connection it holds.
type liteTx struct {
	conn *sql.Conn
	tx   *sql.Tx
}

func (t *liteTx) querier() model.Querier { return gen.New(liteWrites{t.tx}) }

func (t *liteTx) exec(ctx context.Context, statement string) error {
	_, err := t.tx.ExecContext(ctx, statement)
	return err
}

func (t *liteTx) commit(context.Context) error {
	defer t.conn.Close()
	return t.tx.Commit()
}

func (t *liteTx) rollback(context.Context) {
	_ = t.tx.Rollback() // a transaction SQLite ended itself is no news
	_ = t.conn.Close()
}

// liteWrites counts the statements of a transaction.
type liteWrites struct{ tx *sql.Tx }

func (d liteWrites) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	defer count(ctx)()
	return d.tx.ExecContext(ctx, query, args...)
}

func (d liteWrites) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	return d.tx.PrepareContext(ctx, query)
}

func (d liteWrites) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	defer count(ctx)()
	return d.tx.QueryContext(ctx, query, args...)
}

func (d liteWrites) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	defer count(ctx)()
	return d.tx.QueryRowContext(ctx, query, args...)
}

// liteReads counts and bounds the statements of the reading pool.
type liteReads struct {
	db   *sql.DB
	wait time.Duration
}

func (d liteReads) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	defer count(ctx)()
	return d.db.ExecContext(ctx, query, args...)
}

func (d liteReads) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	return d.db.PrepareContext(ctx, query)
}

func (d liteReads) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	defer count(ctx)()
	ctx, started := startWithin(ctx, d.wait)
	defer started()
	return d.db.QueryContext(ctx, query, args...)
}

func (d liteReads) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	defer count(ctx)()
	ctx, started := startWithin(ctx, d.wait)
	defer started()
	return d.db.QueryRowContext(ctx, query, args...)
}

// startWithin is ctx, ended with a deadline's error unless started is called
// within d. The rows of a query live on its context, so a plain timeout would
// cut long reading short.
func startWithin(ctx context.Context, d time.Duration) (_ context.Context, started func()) {
	ctx, cancel := context.WithCancel(ctx)
	s := &starting{Context: ctx}
	timer := time.AfterFunc(d, func() {
		s.late.Store(true)
		cancel()
	})
	return s, func() { timer.Stop() }
}

// starting is the context of a query that has yet to start.
type starting struct {
	context.Context
	late atomic.Bool
}

func (s *starting) Err() error {
	err := s.Context.Err()
	if err != nil && s.late.Load() {
		return context.DeadlineExceeded
	}
	return err
}

package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/stdlib"
)

// lockKey is the advisory lock of migrations. It is taken per database, and
// every release must take the same one.
const lockKey = 0x7374696e74 // "stint"

type postgresEngine struct {
	config *pgx.ConnConfig // leads to a server that takes writes
	reads  *pgx.ConnConfig // what to read by where no such server answers; nil: nothing
	wait   time.Duration
	log    *slog.Logger
}

func newPostgres(at location, o Options) (*postgresEngine, error) {
	pool, err := PoolConfig(at.raw)
	if err != nil {
		return nil, err
	}
	config := pool.ConnConfig
	prepareConfig(config)
	e := &postgresEngine{config: config, wait: o.LockTimeout, log: o.Log}
	if o.Mode != Off {
		RequireUTF8(config)
	}
	if o.Mode != Auto {
		e.reads = config.Copy() // a standby can tell what is applied
	}
	RequireWrites(config, at.raw)
	return e, nil
}

func prepareConfig(config *pgx.ConnConfig) {
	// The simple protocol: files hold several statements, and poolers forget
	// prepared ones.
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	// A statement whose context ends is canceled on the server too: a lost
	// lock must not leave it running there.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: 3 * time.Second}
	}
}

// parseError drops the URL that pgx quotes around the fault, and the fault too
// if there is a password: what is not understood may be a piece of it.
func parseError(at location, err error) error {
	inner := errors.Unwrap(err)
	if inner == nil || at.secret {
		return badURL(unreadable + ", and check its parameters")
	}
	return badURL(inner.Error())
}

// watchClient makes the server end a statement whose client was killed, so that
// the rerun does not wait for it. It is the one setting made for the session:
// behind a pooler it stays with the server's connection, where it does no harm.
const watchClient = `select set_config(name, '1000', false) from pg_settings
	where name = 'client_connection_check_interval' and version() like '%linux%'`

// open sets the limits with "set local" at the start of each transaction: a
// pooler refuses them as connection parameters, and would leak a plain "set".
func (e *postgresEngine) open(ctx context.Context, write bool) (*sql.DB, error) {
	c := boundConnector{Connector: stdlib.GetConnector(*e.config), ctx: ctx}
	if write {
		c.session = watchClient
		c.begin = fmt.Sprintf("set transaction isolation level read committed; set local lock_timeout = %d; set local statement_timeout = 0", e.wait.Milliseconds())
	} else if e.reads != nil {
		c.reads = stdlib.GetConnector(*e.reads)
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(1)
	return db, nil
}

// lock holds an advisory lock in an open transaction. Each part matters:
// a session lock leaks through a pooler; a blocking wait for the lock keeps a
// snapshot and deadlocks with "create index concurrently" of the process that
// holds it, so the lock is polled; the extended protocol and any isolation but
// read committed, which may be the role's default, would keep a snapshot as
// well; and a server that ends idle transactions must not end this one.
func (e *postgresEngine) lock(ctx context.Context, waiting func(time.Duration)) (lock, error) {
	conn, err := e.connectOrCreate(ctx)
	if err != nil {
		return nil, err
	}
	err = poll(ctx, waiting, func() (taken bool, err error) {
		// A transaction per try, for a pooler to give the server to others.
		if _, err := conn.Exec(ctx, "begin isolation level read committed"); err != nil {
			return false, err
		}
		if err := conn.QueryRow(ctx, fmt.Sprintf("select pg_try_advisory_xact_lock(%d)", lockKey)).Scan(&taken); err != nil {
			return false, err
		}
		if !taken {
			_, err := conn.Exec(ctx, "rollback")
			return false, err
		}
		_, err = conn.Exec(ctx, `select set_config(name, '0', true) from pg_settings
			where name in ('idle_in_transaction_session_timeout', 'transaction_timeout')`)
		return true, err
	})
	l := &advisoryLock{conn: conn}
	if err != nil {
		l.release()
		return nil, err
	}
	return l, nil
}

// connectOrCreate makes the database if it is not there, as SQLite makes its
// file. Of several processes that do so at once all but one find it made.
func (e *postgresEngine) connectOrCreate(ctx context.Context) (*pgx.Conn, error) {
	conn, err := e.connect(ctx)
	if SQLState(err) != stateNoDatabase {
		return conn, err
	}
	if err := e.createDatabase(ctx); err != nil {
		return nil, fmt.Errorf("database %s does not exist and cannot be created: %w", e.config.Database, err)
	}
	return e.connect(ctx)
}

func (e *postgresEngine) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, e.config.Copy())
	return conn, ConnectError(err)
}

// ConnectError is why the only server that was asked is refused, or the server's
// own answer, if it gave one: pgx puts in front of them how every other way to
// connect went. Where several hosts were asked, each has its own reason.
func ConnectError(err error) error {
	if refusal := Refusal(err); refusal != nil && !severalHosts(err) {
		return refusal
	}
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Errorf("connect: %w", answer)
	}
	return err
}

func (e *postgresEngine) createDatabase(ctx context.Context) error {
	config := e.config.Copy()
	config.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, config)
	if SQLState(err) == stateNoDatabase {
		return errors.New("the server has no database postgres, which a new one is made from")
	}
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, CreateDatabase(e.config.Database))
	switch SQLState(err) {
	case stateDuplicateDB, stateUnique:
		return nil
	}
	if err == nil {
		e.log.Info("created the database", "database", e.config.Database)
	}
	return err
}

type advisoryLock struct {
	mu   sync.Mutex // the watch and the last check before a commit share conn
	conn *pgx.Conn
}

func (l *advisoryLock) alive(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := l.conn.Ping(ctx); err != nil {
		return refuse(CodeLockLost, nil, "the connection that held the migration lock was lost, so the migration was aborted: start again (%v)", err)
	}
	return nil
}

func (l *advisoryLock) release() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = l.conn.Close(ctx)
}

// prepare drops an index of that name that an interrupted build left invalid:
// it would make "if not exists" a lie and anything else fail.
func (e *postgresEngine) prepare(ctx context.Context, index concurrentIndex) (built bool, err error) {
	conn, err := e.connect(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var valid, ours bool
	err = conn.QueryRow(ctx, `select indisvalid, indrelid = to_regclass($2)
		from pg_index where indexrelid = to_regclass($1)`, index.name, index.table).Scan(&valid, &ours)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil || valid || !ours {
		return valid && ours, err
	}
	_, err = conn.Exec(ctx, "drop index concurrently "+index.name)
	return false, err
}

// check finds indexes that PostgreSQL keeps but does not use. One that is
// being built right now, and what "reindex concurrently" leaves, is no fault.
func (e *postgresEngine) check(ctx context.Context, db Reader) error {
	bad, err := texts(ctx, db, `
		select c.relname from pg_index i
		join pg_class c on c.oid = i.indexrelid
		where not i.indisvalid
			and c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migrations'))
			and c.relname !~ '_cc(new|old)[0-9]*$'
			and not exists (select from pg_stat_progress_create_index p where p.index_relid = i.indexrelid)
		order by 1`)
	if err != nil || bad == nil {
		return err
	}
	return refuse(CodeBadIndex, bad, "invalid_index: %s not valid, its building failed: run `reindex index concurrently %s`", list("index", bad), bad[0])
}

// tables looks at the schema that new tables go to, and at no other; what an
// extension made there is nobody's. Another process may have begun since the
// versions were looked for: it makes their table first.
func (e *postgresEngine) tables(ctx context.Context, db Reader) ([]string, error) {
	return texts(ctx, db, `
		select c.relname from pg_class c
		join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = current_schema()
			and c.relkind in ('r', 'p')
			and to_regclass('schema_migrations') is null
			and not exists (
				select from pg_depend d
				where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
			)
		order by 1 limit 4`)
}

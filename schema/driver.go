package schema

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"github.com/amacneil/dbmate/v2/pkg/dbmate"
	"github.com/amacneil/dbmate/v2/pkg/dbutil"
	"github.com/jackc/pgx/v5/pgconn"
)

const driverName = "stint"

func init() {
	dbmate.RegisterDriver(func(c dbmate.DriverConfig) dbmate.Driver {
		return mateDriver{c.Log.(*attempt)}
	}, driverName)
}

// mateDriver is dbmate's view of an attempt, the same for both engines.
type mateDriver struct{ a *attempt }

func (d mateDriver) Open() (*sql.DB, error) { return d.a.eng.open(d.a.ctx, true) }

func (d mateDriver) MigrationsTableExists(*sql.DB) (bool, error) { return true, nil }

func (d mateDriver) CreateMigrationsTable(db *sql.DB) error {
	return d.a.note(createVersions(d.a.ctx, db))
}

func (d mateDriver) SelectMigrations(db *sql.DB, _ int) (map[string]bool, error) {
	applied, err := readApplied(d.a.ctx, db)
	versions := map[string]bool{}
	for v := range applied {
		versions[v] = true
	}
	return versions, d.a.note(err)
}

// InsertMigration is the last step before the commit: the place to make sure
// that this process still holds the lock and that the data is whole.
func (d mateDriver) InsertMigration(tx dbutil.Transaction, _ string) error {
	if err := insertVersion(tx, d.a.migration); err != nil {
		return d.a.note(err)
	}
	if c, ok := d.a.eng.(interface {
		beforeCommit(dbutil.Transaction) error
	}); ok {
		if err := c.beforeCommit(tx); err != nil {
			return d.a.note(err)
		}
	}
	return d.a.note(d.a.lock.alive(d.a.ctx))
}

func (d mateDriver) QueryError(query string, err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Position > 0 {
		return d.a.note(fmt.Errorf("line %d: %w", d.line(query, int(e.Position)), err))
	}
	return d.a.note(err)
}

// line turns a position in characters of the up part into a line of the file.
func (d mateDriver) line(query string, position int) int {
	before := []rune(query)
	before = before[:min(position-1, len(before))]
	file := d.a.migration.text
	return 1 + strings.Count(file[:max(strings.Index(file, query), 0)], "\n") + strings.Count(string(before), "\n")
}

func (a *attempt) note(err error) error {
	if a.err == nil {
		a.err = err
	}
	return err
}

// The rest of dbmate's interface serves commands that are not offered here.
var errNotOffered = errors.New("not offered by this driver")

func (mateDriver) DatabaseExists() (bool, error)                    { return false, errNotOffered }
func (mateDriver) CreateDatabase() error                            { return errNotOffered }
func (mateDriver) DropDatabase() error                              { return errNotOffered }
func (mateDriver) DumpSchema(*sql.DB, ...string) ([]byte, error)    { return nil, errNotOffered }
func (mateDriver) DeleteMigration(dbutil.Transaction, string) error { return errNotOffered }
func (mateDriver) Ping() error                                      { return errNotOffered }

// createVersions makes the versions table, or adds the checksums to one that a
// bare dbmate made. Callers hold the lock.
func createVersions(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, "select * from schema_migrations limit 0")
	if err == nil {
		var columns []string
		columns, err = rows.Columns()
		err = errors.Join(err, rows.Close(), rows.Err())
		if err == nil && strings.Contains(strings.Join(columns, " "), "checksum") {
			return nil
		}
	}
	statement := "alter table schema_migrations add column checksum text null"
	if noTable(err) {
		statement = "create table schema_migrations (version text primary key, checksum text null)"
	} else if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("prepare the table schema_migrations: %w", err)
	}
	return nil
}

func insertVersion(tx dbutil.Transaction, m migration) error {
	_, err := tx.Exec("insert into schema_migrations (version, checksum) values ($1, $2)", m.version, m.checksum)
	return err
}

// boundConnector makes connections for dbmate, which knows no contexts: each
// statement runs under ctx.
type boundConnector struct {
	driver.Connector
	reads   driver.Connector // asked next if no server takes writes; may be nil
	ctx     context.Context
	session string // run when connected
	begin   string // run at the start of each transaction
}

func (c boundConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(c.ctx)
	if c.reads != nil && takesNoWrites(err) {
		conn, err = c.reads.Connect(c.ctx)
	}
	if err != nil {
		return nil, ConnectError(err)
	}
	bound := boundConn{conn.(contextConn), c}
	if c.session != "" {
		if _, err := bound.ExecContext(ctx, c.session, nil); err != nil {
			return nil, errors.Join(err, bound.Close())
		}
	}
	return bound, nil
}

// contextConn is what the connections of both drivers can do.
type contextConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
}

type boundConn struct {
	contextConn
	by boundConnector
}

func (c boundConn) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := c.contextConn.BeginTx(c.by.ctx, o)
	if err != nil || c.by.begin == "" {
		return tx, err
	}
	if _, err := c.contextConn.ExecContext(c.by.ctx, c.by.begin, nil); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

func (c boundConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.contextConn.ExecContext(c.by.ctx, query, args)
}

func (c boundConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.contextConn.QueryContext(c.by.ctx, query, args)
}

// Close reports nothing: dbmate panics when closing fails, which it does on a
// connection that the server has ended.
func (c boundConn) Close() error {
	_ = c.contextConn.Close()
	return nil
}

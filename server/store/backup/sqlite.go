package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"

	"modernc.org/sqlite"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

// pagesAtOnce is how much is copied between two looks at the context: 4 MiB.
const pagesAtOnce = 1024

func createSQLite(ctx context.Context, o Options) (Report, error) {
	path, err := store.SQLitePath(o.URL)
	if err != nil {
		return Report{}, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Report{}, fmt.Errorf("there is no database %s", path)
	}
	if err := vacant(o.File, "a backup replaces nothing, choose another name"); err != nil {
		return Report{}, err
	}
	p, err := newPartial(o.File)
	if err != nil {
		return Report{}, fmt.Errorf("make the backup: %w", err)
	}
	defer p.discard()
	if err := copyOut(ctx, path, p.path, o); err != nil {
		return Report{}, fmt.Errorf("copy %s to %s: %w", path, o.File, err)
	}
	r, err := checkSQLite(ctx, p.path, o)
	if err != nil {
		return r, fmt.Errorf("check the copy of %s: %w", path, err)
	}
	return p.finish(ctx, r)
}

// copyOut copies page by page, all of one instant: the read transaction keeps
// the snapshot from the first page to the last. Without it each commit of
// another process would make the copying begin anew, under load for ever. In WAL
// mode nobody waits for it; the log grows while it lasts.
func copyOut(ctx context.Context, path, to string, o Options) error {
	if err := schema.LogLost(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", schema.FileURI(path, url.Values{
		"mode": {"rw"}, "_pragma": {"busy_timeout(10000)", "query_only(1)"},
	}))
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "begin"); err != nil {
		return err
	}
	var tables, pageSize int64 // reading the tables takes the snapshot
	if err := conn.QueryRowContext(ctx, "select count(*) from sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "pragma page_size").Scan(&pageSize); err != nil {
		return err
	}
	return conn.Raw(func(c any) error {
		return copyPages(ctx, c, to, func(done, total int) { o.progress(int64(done)*pageSize, int64(total)*pageSize) })
	})
}

// copyPages leaves syncing to the end: until then the file has no name.
func copyPages(ctx context.Context, from any, to string, progress func(done, total int)) error {
	source, ok := from.(interface {
		NewBackup(string) (*sqlite.Backup, error)
	})
	if !ok {
		return fmt.Errorf("the driver's %T cannot copy a database", from)
	}
	b, err := source.NewBackup(schema.FileURI(to, url.Values{"_pragma": {"journal_mode(off)", "synchronous(off)"}}))
	if err != nil {
		return err
	}
	more := true
	for more && err == nil {
		if err = ctx.Err(); err != nil {
			break
		}
		more, err = b.Step(pagesAtOnce)
		progress(b.PageCount()-b.Remaining(), b.PageCount())
	}
	return errors.Join(err, b.Finish())
}

// checkSQLite reads all of a file that nobody else has open, and makes it one
// that needs no log beside it.
func checkSQLite(ctx context.Context, path string, o Options) (Report, error) {
	if err := sound(ctx, path); err != nil {
		return Report{}, damaged(err)
	}
	versions, err := schema.Status(ctx, schema.Options{URL: "sqlite:" + path})
	if err != nil {
		return Report{}, err
	}
	r, err := reportOf(store.SQLite, o, versions)
	r.Bytes = sizeOf(path)
	return r, err
}

// errDamaged is a database that SQLite cannot read through.
var errDamaged = errors.New("the database is damaged")

// damaged names what the driver's words for a broken file mean.
func damaged(err error) error {
	if store.Damaged(err) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}

func sound(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", schema.FileURI(path, url.Values{"mode": {"rw"}, "_pragma": {"journal_mode(delete)", "synchronous(full)"}}))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var answer string
	if err := db.QueryRowContext(ctx, "pragma integrity_check(1)").Scan(&answer); err != nil {
		return err
	}
	if answer != "ok" {
		return fmt.Errorf("%w: integrity_check: %s", errDamaged, oneLine(answer))
	}
	var table, parent string
	var row, key any
	err = db.QueryRowContext(ctx, "pragma foreign_key_check").Scan(&table, &row, &parent, &key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%w: foreign_key_check: row %v of %s has no parent in %s", errDamaged, row, table, parent)
	}
	return err
}

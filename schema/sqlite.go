package schema

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/amacneil/dbmate/v2/pkg/dbutil"
	"modernc.org/sqlite"
)

type sqliteEngine struct {
	path string
	wait time.Duration
}

// FileURI names the file to SQLite with settings of the driver. %, ? and # in
// its name are part of it.
func FileURI(path string, settings url.Values) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + settings.Encode()
}

// open leaves foreign_keys off: with them on, rebuilding a table inside a
// transaction deletes its child rows without a word. beforeCommit checks them.
//
// A reader opens the file for writing too, where it may: a process that was
// killed can leave a rollback journal (the step to WAL writes one), and only
// such a connection may roll it back.
func (e sqliteEngine) open(ctx context.Context, write bool) (*sql.DB, error) {
	if info, err := os.Stat(e.path); err == nil && info.IsDir() {
		return nil, errors.New("it is a directory")
	} else if errors.Is(err, fs.ErrNotExist) && !write {
		return nil, noFile(e.path)
	}
	if err := LogLost(e.path); err != nil {
		return nil, err
	}
	settings := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", e.wait.Milliseconds())}}
	if write {
		if err := CreateFile(e.path); err != nil {
			return nil, err
		}
		settings["_pragma"] = append(settings["_pragma"], "journal_mode(WAL)", "synchronous(FULL)")
		settings.Set("_txlock", "immediate")
	} else {
		settings.Set("mode", "rw")
		settings["_pragma"] = append(settings["_pragma"], "query_only(1)")
	}
	connector, err := sqlite.NewConnector(FileURI(e.path, settings))
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(boundConnector{Connector: connector, ctx: ctx})
	db.SetMaxOpenConns(1)
	return db, nil
}

// noFile is errNoDatabase, unless the file cannot be made either.
func noFile(path string) error {
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return noDirectory(path)
	}
	return errNoDatabase
}

func noDirectory(path string) error {
	return fmt.Errorf("the directory %s does not exist", filepath.Dir(path))
}

var creating sync.Mutex

// CreateFile makes the file, unless it is there, for its owner's eyes only
// (SQLite gives the log the same mode), and explains the mistakes that a path
// can hold. Its links are followed already ([FilePath]): SQLite itself would make
// the file behind one, for everybody's eyes. A file that exists is not opened:
// closing it would drop every lock that SQLite holds on it elsewhere in this
// process. The mutex keeps that true for a file that another goroutine is just
// making.
func CreateFile(path string) error {
	creating.Lock()
	defer creating.Unlock()
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return errors.New("it is a directory")
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, private)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return noDirectory(path)
	case err != nil:
		return err
	}
	return errors.Join(f.Chmod(private), f.Close()) // the umask may have taken too much
}

// private is the mode of a file with rows in it.
const private fs.FileMode = 0o600

// beforeCommit refuses to commit rows whose parents are gone.
func (e sqliteEngine) beforeCommit(tx dbutil.Transaction) error {
	var table, parent string
	var row, key any
	err := tx.QueryRow("pragma foreign_key_check").Scan(&table, &row, &parent, &key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("foreign_key_check: row %v of %s has no parent in %s", row, table, parent)
}

func (sqliteEngine) prepare(context.Context, concurrentIndex) (bool, error) { return false, nil }

// tables is empty also if another process began since the versions were looked
// for: it makes their table first.
func (sqliteEngine) tables(ctx context.Context, db Reader) ([]string, error) {
	return texts(ctx, db, `select name from sqlite_schema
		where type in ('table', 'view') and name not like 'sqlite\_%' escape '\'
			and not exists (select 1 from sqlite_schema where name = 'schema_migrations')
		order by 1 limit 4`)
}

func (sqliteEngine) check(context.Context, Reader) error { return nil }

// lock is an exclusive transaction on a file of its own, so that neither
// readers nor writers of the database wait for it. The system drops it with
// the process. The file stays: removing it would let two processes hold "it".
func (e sqliteEngine) lock(ctx context.Context, waiting func(time.Duration)) (lock, error) {
	if err := CreateFile(e.path + ".lock"); err != nil {
		return nil, err
	}
	connector, err := sqlite.NewConnector(FileURI(e.path+".lock", url.Values{"_pragma": {"busy_timeout(0)"}}))
	if err != nil {
		return nil, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	err = poll(ctx, waiting, func() (bool, error) {
		_, err := conn.(driver.ExecerContext).ExecContext(ctx, "begin exclusive", nil)
		if busy(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s.lock: %w", e.path, err), conn.Close())
	}
	return fileLock{conn}, nil
}

type fileLock struct{ conn driver.Conn }

func (fileLock) alive(context.Context) error { return nil }
func (l fileLock) release()                  { _ = l.conn.Close() }

// poll asks ten times a second until ask says yes, and calls waiting after the
// first no and every ten seconds from then on.
func poll(ctx context.Context, waiting func(time.Duration), ask func() (bool, error)) error {
	start := time.Now()
	for next := start; ; {
		ok, err := ask()
		if ok || err != nil {
			return err
		}
		if now := time.Now(); !now.Before(next) {
			waiting(now.Sub(start))
			next = now.Add(10 * time.Second)
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

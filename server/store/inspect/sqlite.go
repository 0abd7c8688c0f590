package inspect

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

// SQLite is one connection that only reads, beside those of a server.
type SQLite struct {
	db   *sql.DB
	Path string
}

// OpenSQLite opens a file that has to be there.
func OpenSQLite(raw string) (*SQLite, error) {
	path, err := store.SQLitePath(raw)
	if err != nil {
		return nil, err
	}
	if err := schema.LogLost(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", schema.FileURI(path, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(5000)", "query_only(1)"}}))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &SQLite{db, path}, nil
}

// Close ends the connection.
func (l *SQLite) Close() { _ = l.db.Close() }

// Quick is what quick_check says first: "ok", or what is wrong. It reads all
// of the file.
func (l *SQLite) Quick(ctx context.Context) (says string, err error) {
	err = l.db.QueryRowContext(ctx, "pragma quick_check(1)").Scan(&says)
	if store.Damaged(err) {
		return err.Error(), nil
	}
	return strings.Join(strings.Fields(says), " "), err
}

// Orphans is the number of rows whose parent is gone, and the table of one.
func (l *SQLite) Orphans(ctx context.Context) (n int, table string, err error) {
	err = l.db.QueryRowContext(ctx, `select count(*), coalesce(max("table"), '') from pragma_foreign_key_check`).Scan(&n, &table)
	return n, table, err
}

// JournalMode is the journal mode that the file is in; a server makes it wal.
func (l *SQLite) JournalMode(ctx context.Context) (mode string, err error) {
	return mode, l.db.QueryRowContext(ctx, "pragma journal_mode").Scan(&mode)
}

// Newest is when the newest job of any owner was made, by the clock of its
// server; the zero time without jobs. Index jobs_by_created, once per owner.
func (l *SQLite) Newest(ctx context.Context) (time.Time, error) {
	var us sql.NullInt64
	err := l.db.QueryRowContext(ctx, "select max((select max(j.created_at) from jobs j where j.owner_id = o.id)) from owners o").Scan(&us)
	if err != nil || !us.Valid {
		return time.Time{}, err
	}
	return time.UnixMicro(us.Int64), nil
}

// LogBytes is the size of the write-ahead log.
func (l *SQLite) LogBytes() (int64, error) {
	info, err := os.Stat(l.Path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Bytes is the size of the database.
func (l *SQLite) Bytes() int64 {
	info, err := os.Stat(l.Path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Free is the room left on the disk of the database, in bytes.
func (l *SQLite) Free() (int64, error) { return freeBytes(filepath.Dir(l.Path)) }

// Mode is who may do what with a file.
type Mode struct {
	Name string
	Mode fs.FileMode
}

// Modes are those of the folder, first, and of the files that are there.
func (l *SQLite) Modes() (all []Mode, err error) {
	for _, path := range []string{filepath.Dir(l.Path), l.Path, l.Path + "-wal", l.Path + "-shm", l.Path + ".token"} {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, Mode{path, info.Mode()})
	}
	return all, nil
}

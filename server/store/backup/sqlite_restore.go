package backup

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/store"
)

func restoreSQLite(ctx context.Context, o Options) (Report, error) {
	path, err := store.SQLitePath(o.URL)
	if err != nil {
		return Report{}, err
	}
	if err := begins(o.File, liteMagic); err != nil {
		return Report{}, err
	}
	if err := noLog(o.File); err != nil {
		return Report{}, err
	}
	if err := vacancy(path, o); err != nil {
		return Report{}, err
	}
	p, err := newPartial(path)
	if err != nil {
		return Report{}, fmt.Errorf("make the database: %w", err)
	}
	defer p.discard()
	c, err := copyIn(ctx, o, p.path)
	if errors.Is(err, errChanged) {
		return Report{}, fmt.Errorf("%s is refused: %w", o.File, err)
	}
	if err != nil {
		return Report{}, fmt.Errorf("copy %s: %w", o.File, err)
	}
	r, err := usable(ctx, p.path, o)
	if err != nil {
		return r, fmt.Errorf("%s is refused: %w", o.File, err)
	}
	r.Bytes = sizeOf(o.File)
	r.compared(c)
	if err := notOurs(ctx, path); err != nil {
		return r, err
	}
	if err := beginEpoch(ctx, p.path); err != nil {
		return r, err
	}
	if err := settle(ctx, p, o.Force); err != nil {
		return r, fmt.Errorf("put the database in place: %w", err)
	}
	return r, nil
}

// vacancy refuses a path that a database, or the log of one, is at. A log that
// is left behind would be taken for the new database's own.
func vacancy(path string, o Options) error {
	if o.Force {
		return replaceable(path, o.File)
	}
	for _, name := range append([]string{path}, besides(path)...) {
		if err := vacant(name, "stop the server and use --force to replace it"); err != nil {
			return err
		}
	}
	return nil
}

// replaceable refuses what is no file that may become another database: a device
// or a pipe, which a rename would replace too, the backup, and a file that is no
// database at all. A database may be as broken as it likes behind its first bytes.
func replaceable(path, file string) error {
	old, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !old.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: it is not replaced", path)
	}
	backup, err := os.Stat(file)
	if err != nil {
		return err
	}
	if os.SameFile(old, backup) {
		return fmt.Errorf("%s is the backup itself: name another database with --db", path)
	}
	start, err := begin(path)
	if err == nil && start != "" && !is(start, liteMagic) {
		err = fmt.Errorf("%s is no SQLite database: %s", path, moveAway)
	}
	return err
}

// noLog refuses a database in use: its newest rows are in the log beside it.
func noLog(file string) error {
	real, err := filepath.EvalSymlinks(file)
	if err == nil && sizeOf(real+"-wal") > 0 {
		err = fmt.Errorf("%s-wal belongs to %s, which is no backup without it: make one with stint backup create", real, file)
	}
	return err
}

// copyIn copies the backup without its checksum, and compares: so the bytes that
// were checked are those that are put in place.
func copyIn(ctx context.Context, o Options, to string) (c checksum, err error) {
	in, err := os.Open(o.File)
	if err != nil {
		return c, err
	}
	defer in.Close()
	if c, err = readChecksum(in); err != nil {
		return c, err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	hash := sha256.New()
	body := &counted{ctx: ctx, r: io.NewSectionReader(in, 0, c.body), o: o, total: c.body}
	if _, err := io.Copy(io.MultiWriter(out, hash), body); err != nil {
		return c, err
	}
	return c, c.compare(hex.EncodeToString(hash.Sum(nil)))
}

// counted is a reader that tells how far it is, and ends with its context.
type counted struct {
	ctx         context.Context
	r           io.Reader
	o           Options
	done, total int64
}

func (c *counted) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(b)
	c.done += int64(n)
	c.o.progress(c.done, c.total)
	return n, err
}

// usable reads all of the copy and makes sure that this build may start on it.
func usable(ctx context.Context, path string, o Options) (Report, error) {
	r, err := checkSQLite(ctx, path, o)
	if err != nil {
		return r, err
	}
	_, err = schema.Migrate(ctx, schema.Options{URL: "sqlite:" + path, Mode: schema.Off})
	if refused, ok := errors.AsType[*schema.Error](err); ok {
		return r, refused // without the copy's name, which means nothing to anybody
	}
	return r, err
}

// settle puts the copy in place. A database that is replaced is first one file
// without a log, and then locked against whoever would open it.
func settle(ctx context.Context, p partial, force bool) error {
	if err := syncPath(p.path); err != nil {
		return err
	}
	if !force {
		return p.place()
	}
	if _, err := os.Stat(p.final); errors.Is(err, fs.ErrNotExist) {
		return errors.Join(removeLeft(p.final), p.place())
	}
	if err := fold(ctx, p.final); err != nil {
		return err
	}
	unlock, err := lockOut(p.final)
	if err != nil {
		return err
	}
	defer unlock()
	if err := removeLeft(p.final); err != nil {
		return err
	}
	return p.replace()
}

func removeLeft(path string) error {
	for _, name := range besides(path) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// fold writes the log of the old database into it, so that a process killed
// before the rename leaves it whole. It fails while anybody has it open. One
// that is too broken to be read has no log worth keeping.
func fold(ctx context.Context, path string) error {
	unlock, err := lockOut(path)
	if err != nil {
		return err
	}
	unlock()
	db, err := sql.Open("sqlite", schema.FileURI(path, url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(0)"}}))
	if err != nil {
		return err
	}
	defer db.Close()
	var mode string
	err = db.QueryRowContext(ctx, "pragma journal_mode=delete").Scan(&mode)
	switch {
	case store.Damaged(err):
		return nil
	case err != nil && store.LockTimeout(err), err == nil && mode != "delete":
		return inUse(path)
	}
	return err
}

func inUse(path string) error {
	return fmt.Errorf("%s is in use by another process: stop the server first", path)
}

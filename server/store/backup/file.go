package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// partial is a file on its way to its name.
type partial struct{ path, final string }

// newPartial makes an empty file beside final, for its owner's eyes only: a
// backup holds the hashes of tokens and the key of cursors.
func newPartial(final string) (partial, error) {
	f, err := os.CreateTemp(filepath.Dir(final), "."+filepath.Base(final)+".*.partial")
	if errors.Is(err, fs.ErrNotExist) {
		return partial{}, fmt.Errorf("the directory %s does not exist", filepath.Dir(final))
	}
	if err != nil {
		return partial{}, err
	}
	return partial{f.Name(), final}, errors.Join(f.Chmod(0o600), f.Close()) // the umask may have taken too much
}

// vacant refuses a name that is taken.
func vacant(path, advice string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return fmt.Errorf("%s exists: %s", path, advice)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// finish writes the checksum of a backup that was checked, and gives it its name.
func (p partial) finish(ctx context.Context, r Report) (Report, error) {
	sum, err := seal(ctx, p.path)
	if err == nil {
		r.SHA256, r.Bytes = &sum, sizeOf(p.path)
		err = p.place()
	}
	if err != nil {
		return r, fmt.Errorf("put the backup in place: %w", err)
	}
	return r, nil
}

// place gives a file that is on disk its name, if that is free.
func (p partial) place() error {
	err := os.Link(p.path, p.final) // unlike a rename it replaces nothing
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists: somebody else made it meanwhile", p.final)
	}
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) { // a file system without links
		if err = vacant(p.final, "somebody else made it meanwhile"); err == nil {
			return p.replace()
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(os.Remove(p.path), syncPath(filepath.Dir(p.final)))
}

// replace gives a file that is on disk its name, whoever has it.
func (p partial) replace() error {
	if err := os.Rename(p.path, p.final); err != nil {
		return err
	}
	return syncPath(filepath.Dir(p.final))
}

// discard removes what was not placed.
func (p partial) discard() {
	for _, path := range append(besides(p.path), p.path) {
		_ = os.Remove(path) // most are not there
	}
}

// besides are the files that SQLite keeps beside a database, in the order in
// which it removes them: a -shm whose -wal is gone would look like a lost log.
func besides(path string) []string {
	return []string{path + "-shm", path + "-wal", path + "-journal"}
}

// syncPath brings a file, or the names in a folder, to the disk.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// The first bytes of what a backup can be.
const (
	liteMagic   = "SQLite format 3\x00"
	pgDumpMagic = "PGDMP"
)

// begin is how a backup begins.
func begin(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no file %s", path)
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	start := make([]byte, len(liteMagic))
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	return string(start[:n]), nil
}

func is(start, magic string) bool { return strings.HasPrefix(start, magic) }

// begins refuses a backup that is not what the engine takes.
func begins(path, magic string) error {
	start, err := begin(path)
	switch {
	case err != nil:
		return err
	case is(start, magic):
		return nil
	case is(start, pgDumpMagic):
		return fmt.Errorf("%s is a backup of PostgreSQL: name a PostgreSQL database with --db", path)
	case is(start, liteMagic):
		return fmt.Errorf("%s is a backup of SQLite: name sqlite:PATH with --db", path)
	}
	return noBackup(path)
}

func noBackup(path string) error {
	return fmt.Errorf("%s is not a backup: it is neither an SQLite database nor an archive of pg_dump", path)
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

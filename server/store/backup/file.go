package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

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

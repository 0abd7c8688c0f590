//go:build unix

package backup

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// errLocked: another process holds it.
var errLocked = errors.New("another process holds it")

// lockAlone locks a file or a folder until it is closed, or its process ends.
func lockAlone(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// The bytes of a database file that SQLite locks: the pending byte, the reserved
// one, and those that readers share. In WAL mode every open connection holds a
// share. (sqlite3's os.h.)
const lockedFrom, lockedBytes = 0x40000000, 512

// lockOut keeps every other process from opening a database file, until unlock.
// It fails if one has it open, and works on a file that SQLite cannot read.
func lockOut(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockedFrom, Len: lockedBytes}
	err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &lock)
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		err = inUse(path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // closing drops the lock
}

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stint-run/stint/schema"
)

// ErrSettings: what was asked for makes no sense, whatever the database is.
var ErrSettings = errors.New("settings")

// settingsError marks err, whose text stays, as one of the settings.
type settingsError struct{ error }

func (settingsError) Is(target error) bool { return target == ErrSettings }
func (e settingsError) Unwrap() error      { return e.error }

func badSetting(format string, args ...any) error {
	return settingsError{fmt.Errorf(format, args...)}
}

// Trouble says in words what hinders the file of an SQLite database, which SQLite
// says by number, and whether it may end without a person; "" is none of that.
func Trouble(err error) (words string, passes bool) {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "the disk is full", true
	case errors.Is(err, syscall.EFBIG):
		return "the disk is full, or the file may not grow", true
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only", false
	case errors.Is(err, fs.ErrPermission):
		return "this user may not use the file or its folder", false
	}
	switch schema.SQLiteCode(err) & 0xff {
	case sqlite3.SQLITE_FULL:
		return "the disk is full", true
	case sqlite3.SQLITE_IOERR:
		return "the disk is full, or fails", true
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return "another process holds the database file", true
	case sqlite3.SQLITE_CANTOPEN:
		return "the file, or one that SQLite keeps beside it, cannot be opened", true
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return "the file or its folder may not be written", false
	case sqlite3.SQLITE_NOTADB:
		return "the file is no SQLite database", false
	case sqlite3.SQLITE_CORRUPT:
		return "the database file is damaged", false
	}
	return "", false
}

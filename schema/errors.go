package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The codes of [Error].
const (
	CodeUnsupported = "unsupported_schema"     // the database has a version this build does not know
	CodeEdited      = "migration_edited"       // an applied file is not what it was
	CodeDuplicate   = "migration_duplicate"    // two files have one number
	CodeOutOfOrder  = "migration_out_of_order" // a pending file is older than an applied one
	CodeInvalidFile = "migration_invalid"      // a file breaks the rules of migration files
	CodePending     = "migration_pending"      // Verify, and mode verify: something is not applied
	CodeBadIndex    = "invalid_index"          // PostgreSQL has an index whose building failed
	CodeBusy        = "migration_busy"         // a table stayed in use by others
	CodeLockLost    = "migration_lock_lost"    // the connection that held the lock went away
	CodeForeign     = "foreign_database"       // tables of another program, and no versions
	CodeBadURL      = "database_url"           // the URL cannot be understood
	CodeLogLost     = "database_log_lost"      // SQLite: the log was removed that holds the newest transactions
	CodeEncoding    = "database_encoding"      // PostgreSQL's database is not UTF8
	CodeSession     = "database_session"       // a pooler does not pass a setting on
	CodeStandby     = "database_standby"       // the server is a standby; it may be promoted
	CodeReadOnly    = "database_read_only"     // default_transaction_read_only is on
)

// Error is a refusal: nothing was changed by the step that is refused, and
// the same call fails again until somebody acts on Detail.
type Error struct {
	Code   string   // one of the codes above
	Names  []string // the versions, files or indexes it speaks of
	Detail string   // one line, with the way out
}

func (e *Error) Error() string { return e.Detail }

func refuse(code string, names []string, format string, args ...any) *Error {
	return &Error{Code: code, Names: names, Detail: fmt.Sprintf(format, args...)}
}

// Refusal is the [Error] in err's chain, or nil.
func Refusal(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

// Code returns the code of the [Error] in err's chain, or "".
func Code(err error) string {
	if e := Refusal(err); e != nil {
		return e.Code
	}
	return ""
}

// SQLSTATEs this package acts on.
const (
	stateNoDatabase       = "3D000"
	stateNoTable          = "42P01"
	stateDuplicateDB      = "42P04"
	stateUnique           = "23505"
	stateNoRights         = "42501"
	stateReadOnly         = "25006"
	stateNoSchema         = "3F000"
	stateLockNotAvailable = "55P03"
	stateDeadlock         = "40P01"
)

// SQLState is the code of PostgreSQL's answer in err's chain, or "".
func SQLState(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// SQLiteCode is SQLite's extended result code in err's chain, or 0. Its low
// byte is the primary code.
func SQLiteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

func primaryCode(err error) int { return SQLiteCode(err) & 0xff }

// busy reports that others hold what the statement needs: worth another try.
func busy(err error) bool {
	switch SQLState(err) {
	case stateLockNotAvailable, stateDeadlock:
		return true
	}
	code := primaryCode(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// noTable reports that schema_migrations does not exist.
func noTable(err error) bool {
	return SQLState(err) == stateNoTable ||
		primaryCode(err) == sqlite3.SQLITE_ERROR && strings.Contains(err.Error(), "no such table")
}

// noRights reports that the role or the file does not let us write.
func noRights(err error) bool {
	if SQLState(err) == stateNoRights || errors.Is(err, fs.ErrPermission) {
		return true
	}
	switch primaryCode(err) {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return true
	}
	return false
}

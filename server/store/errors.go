package store

import (
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stint-run/stint/schema"
)

// SQLSTATEs that this package acts on.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	uniqueViolation      = "23505"
	queryCanceled        = "57014"
	readOnlyTransaction  = "25006"
	idleInTransaction    = "25P03"
	duplicatePrepared    = "42P05"
	unknownPrepared      = "26000"
	noDatabase           = "3D000"
	invalidRole          = "28000"
	invalidPassword      = "28P01"

	insufficientPrivilege = "42501"
	untranslatable        = "22P05"
	badEncoding           = "22021"
	diskFull              = "53100"
	ioError               = "58030"
	terminated            = "57P01"

	// Classes of them, by their beginning.
	insufficientResources = "53" // connections, memory or disk
	systemError           = "58"
)

// ErrRerun is returned by the function of a Tx that found its ground moved: the
// transaction is rolled back and run again, like one that lost a race.
var ErrRerun = errors.New("run the transaction again")

// ErrSettings: what was asked for makes no sense, whatever the database is.
var ErrSettings = errors.New("settings")

// settingsError marks err, whose text stays, as one of the settings.
type settingsError struct{ error }

func (settingsError) Is(target error) bool { return target == ErrSettings }
func (e settingsError) Unwrap() error      { return e.error }

func badSetting(format string, args ...any) error {
	return settingsError{fmt.Errorf(format, args...)}
}

// NotFound reports whether a :one statement found no row.
func NotFound(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// LockTimeout reports whether a statement gave up waiting for a row, a table
// or, on SQLite, the writer.
func LockTimeout(err error) bool {
	return schema.SQLState(err) == lockNotAvailable || busy(err)
}

// UniqueViolation reports whether a row of the same unique key exists.
func UniqueViolation(err error) bool {
	if schema.SQLState(err) == uniqueViolation {
		return true
	}
	switch schema.SQLiteCode(err) {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return true
	}
	return false
}

// NoDatabase reports whether the server has no database of that name.
func NoDatabase(err error) bool { return schema.SQLState(err) == noDatabase }

// Answer is what the server of PostgreSQL said of an error, or "".
func Answer(err error) string {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return ""
	}
	return answer.Message
}

// Rejected is why the database and this role do not trust each other, which no
// waiting mends: the server refused the role, its credentials or its
// certificate, or nobody vouches for the server's own. Else it is nil.
func Rejected(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && (pg.Code == invalidRole || pg.Code == invalidPassword) {
		return pg
	}
	var unverified *tls.CertificateVerificationError
	if errors.As(err, &unverified) {
		return unverified
	}
	// Only an alert of TLS has this Op: an expired certificate, an unknown authority.
	var alert *net.OpError
	if errors.As(err, &alert) && alert.Op == "remote error" {
		return alert
	}
	return nil
}

// conflict reports whether a rerun of the whole transaction may well succeed.
func conflict(err error) bool {
	if errors.Is(err, ErrRerun) {
		return true
	}
	switch schema.SQLState(err) {
	case serializationFailure, deadlockDetected:
		return true
	}
	return busy(err)
}

// lost reports whether the connection is gone or could not be made.
func lost(err error) bool {
	if state := schema.SQLState(err); state != "" {
		return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P") || refused(err)
	}
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &connect), errors.As(err, &network):
		return true
	case pgconn.SafeToRetry(err), errors.Is(err, pgconn.ErrConnClosed):
		return true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return true
	}
	return errors.Is(err, errSilent) || errors.Is(err, puddle.ErrClosedPool) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn)
}

// refused reports whether the server answered, but let nobody in.
func refused(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect)
}

var busy = sqliteCode(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

// Damaged reports whether SQLite found a file broken, or no database at all.
func Damaged(err error) bool { return sqliteCode(sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)(err) }

// diskFailed reports whether SQLite could not be sure of what reached the disk.
var diskFailed = sqliteCode(sqlite3.SQLITE_IOERR)

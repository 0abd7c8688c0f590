package store

import (
	"cmp"
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/fault"
)

// retryAfter is what a client is told to wait when the database is away: long
// enough for a restart to be under way, short enough for work to go on.
const retryAfter = 2 * time.Second

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
)

// ErrRerun is returned by the function of a Tx that found its ground moved: the
// transaction is rolled back and run again, like one that lost a race.
var ErrRerun = errors.New("run the transaction again")

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

// Explain turns an error that means "the database cannot be had now" into a
// 503 without the driver's text; the fault wraps err, for the log. Faults and
// all other errors pass unchanged.
func Explain(err error) error {
	var f *fault.Fault
	if err == nil || errors.As(err, &f) || !away(err) {
		return err
	}
	return fault.Unavailable(details[cmp.Or(Cause(err), CauseAway)]).After(retryAfter).Because(err)
}

// Away reports whether err comes from the state of the database: it cannot be
// had now, and may be later. One that lets nobody in (Rejected), or is refused
// until a person acts, is not away, nor is one that is yet to be made.
func Away(err error) bool {
	refused := schema.Code(err) != "" && schema.Code(err) != schema.CodeStandby
	return err != nil && away(err) && Rejected(err) == nil && !refused && !NoDatabase(err)
}

// poolerInTheWay reports that a prepared statement met another connection than
// the one it was prepared on; see ExecMode.
func poolerInTheWay(err error) bool {
	state := schema.SQLState(err)
	return state == duplicatePrepared || state == unknownPrepared
}

// away reports whether err comes from the state of the database, not from the
// statement.
func away(err error) bool {
	if LockTimeout(err) || conflict(err) || lost(err) || poolerInTheWay(err) {
		return true
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errClockMoved) || errors.Is(err, errMoved) || diskRefused(err) || errors.Is(err, errWriterBusy) {
		return true
	}
	if code := schema.Code(err); code == schema.CodeStandby || code == schema.CodeReadOnly {
		return true
	}
	switch state := schema.SQLState(err); state {
	case readOnlyTransaction, queryCanceled, idleInTransaction:
		return true
	default:
		if strings.HasPrefix(state, "53") || strings.HasPrefix(state, "58") {
			return true // out of connections, memory or disk; system error
		}
	}
	switch schema.SQLiteCode(err) & 0xff {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT:
		return true
	}
	return false
}

// diskRefused reports whether SQLite could not write: the disk is full, failed,
// or read-only.
func diskRefused(err error) bool {
	switch schema.SQLiteCode(err) & 0xff {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY:
		return true
	}
	return false
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

func busy(err error) bool {
	code := schema.SQLiteCode(err) & 0xff
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// Damaged reports whether SQLite found a file broken, or no database at all.
func Damaged(err error) bool {
	switch schema.SQLiteCode(err) & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	return false
}

// diskFailed reports whether SQLite could not be sure of what reached the disk.
func diskFailed(err error) bool {
	return schema.SQLiteCode(err)&0xff == sqlite3.SQLITE_IOERR
}

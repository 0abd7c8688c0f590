package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/fault"
)

// trouble is one thing that an error of the database, or of its file, can mean.
type trouble struct {
	is     func(error) bool
	cause  string // by which /readyz names it; "" if servers do not
	words  string // for a person at the command line, where the error itself has a number; or ""
	passes bool   // it may end without a person
}

// troubles is searched in order, the most specific first: an error can match several.
var troubles = []trouble{
	{is: anyOf(syscall.ENOSPC, syscall.EDQUOT), words: "the disk is full", passes: true},
	{is: anyOf(syscall.EFBIG), words: "the disk is full, or the file may not grow", passes: true},
	{is: anyOf(syscall.EROFS), words: "the file system is read-only"},
	{is: anyOf(fs.ErrPermission), words: "this user may not use the file or its folder"},

	{is: anyOf(errMoved), cause: CauseFileMoved},
	{is: anyOf(errUsedUp), cause: CausePoolUsedUp},
	{is: anyOf(errWriterBusy), cause: CauseWriterBusy},
	{is: sqliteCode(sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED), cause: CauseWriterBusy, words: "another process holds the database file", passes: true},
	{is: anyOf(errGarbled), cause: CauseEncoding},
	{is: sqlState(duplicatePrepared, unknownPrepared), cause: CausePooler}, // met on another connection; see ExecMode
	{is: anyOf(errClockMoved), cause: CauseClock},
	{is: anyOf(ErrRerun), cause: CauseOverloaded},

	{is: refusedAs(schema.CodeStandby, schema.CodeReadOnly), cause: CauseReadOnly},
	{is: refusedAs(schema.CodeEncoding, schema.CodeSession), cause: CauseEncoding},

	{is: sqlState(readOnlyTransaction), cause: CauseReadOnly},
	{is: sqlState(insufficientPrivilege), cause: CauseRights},
	{is: sqlState(untranslatable, badEncoding), cause: CauseEncoding},
	{is: sqlState(lockNotAvailable, queryCanceled, idleInTransaction, serializationFailure, deadlockDetected), cause: CauseOverloaded},
	{is: sqlState(diskFull, ioError), cause: CauseDisk},
	{is: sqlState(insufficientResources), cause: CauseOverloaded},

	{is: sqliteCode(sqlite3.SQLITE_FULL), cause: CauseDisk, words: "the disk is full", passes: true},
	{is: sqliteCode(sqlite3.SQLITE_IOERR), cause: CauseDisk, words: "the disk is full, or fails", passes: true},
	{is: sqliteCode(sqlite3.SQLITE_CANTOPEN), cause: CauseAway, words: "the file, or one that SQLite keeps beside it, cannot be opened", passes: true},
	{is: sqliteCode(sqlite3.SQLITE_READONLY), cause: CauseReadOnly, words: "the file or its folder may not be written"},
	{is: sqliteCode(sqlite3.SQLITE_PERM), words: "the file or its folder may not be written"},
	{is: sqliteCode(sqlite3.SQLITE_NOTADB), words: "the file is no SQLite database"},
	{is: sqliteCode(sqlite3.SQLITE_CORRUPT), words: "the database file is damaged"},
	{is: sqliteCode(sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT), cause: CauseAway},

	{is: sqlState(systemError), cause: CauseAway},
	{is: lost, cause: CauseAway},
	{is: anyOf(context.DeadlineExceeded), cause: CauseAway},
}

// anyOf matches an error that is one of errs.
func anyOf(errs ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(errs, func(one error) bool { return errors.Is(err, one) })
	}
}

// refusedAs matches errors with one of the codes of schema: a connection that was made
// and not taken.
func refusedAs(codes ...string) func(error) bool {
	return func(err error) bool { return slices.Contains(codes, schema.Code(err)) }
}

// sqlState matches errors whose SQLSTATE begins with one of these.
func sqlState(begins ...string) func(error) bool {
	return func(err error) bool {
		got := schema.SQLState(err)
		return slices.ContainsFunc(begins, func(one string) bool { return strings.HasPrefix(got, one) })
	}
}

// sqliteCode matches errors whose primary result code of SQLite is one of these.
func sqliteCode(codes ...int) func(error) bool {
	return func(err error) bool { return slices.Contains(codes, schema.SQLiteCode(err)&0xff) }
}

// Cause is the word for why the database cannot be had, or refuses what a server
// writes; "" if err says nothing about the database.
func Cause(err error) string {
	for _, t := range troubles {
		if t.cause != "" && t.is(err) {
			return t.cause
		}
	}
	return ""
}

// Trouble says in words what hinders the file of an SQLite database, which SQLite
// says by number, and whether it may end without a person; "" is none of that.
func Trouble(err error) (words string, passes bool) {
	for _, t := range troubles {
		if t.words != "" && t.is(err) {
			return t.words, t.passes
		}
	}
	return "", false
}

// away reports whether err comes from the state of the database, not from the
// statement.
func away(err error) bool {
	return slices.ContainsFunc(troubles, func(t trouble) bool { return t.cause != "" && !standing(t.cause) && t.is(err) })
}

// retryAfter is what a client is told to wait when the database is away: long
// enough for a restart to be under way, short enough for work to go on.
const retryAfter = 2 * time.Second

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

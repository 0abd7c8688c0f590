package store

import (
	"errors"
	"strings"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stint-run/stint/schema"
)

// Causes are the words by which /readyz names why the database cannot be had;
// they are the contract of docs/operations.md.
const (
	CauseAway       = "away"
	CauseReadOnly   = "read_only"
	CauseFileMoved  = "file_moved"
	CauseWriterBusy = "writer_busy"
	CausePoolUsedUp = "pool_used_up"
	CauseOverloaded = "overloaded"
	CauseDisk       = "disk"
	CauseRights     = "no_rights"
	CauseEncoding   = "encoding"
	CausePooler     = "pooler"
	CauseClock      = "clock"
)

var (
	// errUsedUp is a wait for a connection while others had all of them.
	errUsedUp = errors.New("all connections of the pool are in use")
	// errWriterBusy is a wait for SQLite's writer while another one had it.
	errWriterBusy = errors.New("another transaction holds the writer")
	// errGarbled is a text that came back from the database as another one.
	errGarbled = errors.New("the database gave back another text than it was given")
)

// details has the sentence of each cause that a client may see.
var details = map[string]string{
	CauseAway:       "The database cannot be reached.",
	CauseReadOnly:   "The database takes no writes: it is read-only.",
	CauseFileMoved:  "The database's file was removed or replaced under the server.",
	CauseWriterBusy: "Another transaction has kept the database's only writer for too long.",
	CausePoolUsedUp: "All of this replica's connections to the database are in use.",
	CauseOverloaded: "The database is overloaded.",
	CauseDisk:       "The database's disk is full, or fails.",
	CauseRights:     "The server's role lacks rights in the database.",
	CauseEncoding:   "The database, or the connection to it, does not keep texts as UTF-8.",
	CauseClock:      "The server cannot tell the database's time.",
	CausePooler:     "A transaction pooler stands before the database: the server needs --pg-exec-mode exec.",
}

// Cause is the word for why the database cannot be had, or refuses what a server
// writes; "" if err says nothing about the database.
func Cause(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errMoved):
		return CauseFileMoved
	case errors.Is(err, errUsedUp):
		return CausePoolUsedUp
	case errors.Is(err, errWriterBusy), busy(err):
		return CauseWriterBusy
	case errors.Is(err, errGarbled):
		return CauseEncoding
	case poolerInTheWay(err):
		return CausePooler
	case errors.Is(err, errClockMoved):
		return CauseClock
	case errors.Is(err, ErrRerun):
		return CauseOverloaded
	}
	for _, word := range []string{
		causeOfConnect(schema.Code(err)), causeOfState(schema.SQLState(err)), causeOfLite(schema.SQLiteCode(err)),
	} {
		if word != "" {
			return word
		}
	}
	if away(err) {
		return CauseAway
	}
	return ""
}

// causeOfConnect is that of a connection that was made and not taken.
func causeOfConnect(code string) string {
	switch code {
	case schema.CodeStandby, schema.CodeReadOnly:
		return CauseReadOnly
	case schema.CodeEncoding, schema.CodeSession:
		return CauseEncoding
	}
	return ""
}

func causeOfState(state string) string {
	switch state {
	case readOnlyTransaction:
		return CauseReadOnly
	case insufficientPrivilege:
		return CauseRights
	case untranslatable, badEncoding:
		return CauseEncoding
	case lockNotAvailable, queryCanceled, idleInTransaction, serializationFailure, deadlockDetected:
		return CauseOverloaded
	case diskFull, ioError:
		return CauseDisk
	}
	if strings.HasPrefix(state, "53") {
		return CauseOverloaded
	}
	return ""
}

func causeOfLite(code int) string {
	switch code & 0xff {
	case sqlite3.SQLITE_READONLY:
		return CauseReadOnly
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return CauseDisk
	}
	return ""
}

// refusesWrites reports whether a transaction failed for a reason that others
// will meet too: the database takes no writes, from anybody or from this role.
func refusesWrites(err error) bool {
	switch Cause(err) {
	case CauseReadOnly, CauseDisk, CauseRights, CausePooler:
		return true
	}
	return false
}

package store

import "errors"

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

// standing reports whether a cause refuses one request and not all. Waiting does not
// change it.
func standing(cause string) bool { return cause == CauseRights || cause == CauseEncoding }

// refusesWrites reports whether a transaction failed for a reason that others
// will meet too: the database takes no writes, from anybody or from this role.
func refusesWrites(err error) bool {
	switch Cause(err) {
	case CauseReadOnly, CauseDisk, CauseRights, CausePooler:
		return true
	}
	return false
}

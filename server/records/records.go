// Package records keeps what connectors bring: every record once, under its
// connection, stream and key, in its present version.
//
// Lines arrive in chunks. Write takes a chunk in one transaction: all of it, or
// none. A line that breaks a rule is refused alone and kept in the quarantine;
// one that says what is stored already changes nothing; every other one is a
// change, and makes a version. Two numbers count changes: version those of a
// partition (a stream of a connection), seq those of an owner, in the order of
// the commits. The version that a change supersedes is kept beside the records
// for a while, so that a reader who began before the change still sees it.
//
// Live counts, the range of times, counts per day, the figures of the quarantine
// and the heads of the connection are maintained in the same transaction: no
// read costs more with history.
//
// What is taken in a transaction is locked in one order: run, connection,
// partitions by stream, the owner's sequence. The sequence comes last and is held
// until the commit, since that makes its order the order of commits.
package records

import (
	"github.com/stint-run/stint/schema/coltype"
)

// Bounds of what Write takes.
const (
	MaxLine       = 1 << 20 // bytes of a line, without its end
	MaxChunkLines = 1000    // lines of a chunk
	MaxChunkBytes = 1 << 20 // bytes of a chunk's lines
	MaxKey        = 512     // bytes of a record's key
	MaxCheckpoint = 256 << 10
	MaxNamed      = 1000 // refused lines that an answer names; it counts all
)

// Bounds of the quarantine. A line beyond them is refused and not kept.
const (
	MaxRejections           = 1000     // of an owner
	MaxRejectedBytes        = 10 << 20 // of an owner
	MaxConnectionRejections = 250
)

// What a line does to a record.
const (
	Upsert = "upsert"
	Delete = "delete"
)

// Ops are the words that a line may have as its op.
var Ops = []string{Upsert, Delete}

// By which time a record is sorted (constraint records_dated_by_check).
const (
	DatedByData      = "data"
	DatedByEmittedAt = "emitted_at"
	DatedByNothing   = "nothing"
)

// DatedBy are those three.
var DatedBy = []string{DatedByData, DatedByEmittedAt, DatedByNothing}

// How far a full refresh of a partition is (constraint partitions_refresh_state_check).
const (
	RefreshReading  = "reading"  // its run marks what it sees
	RefreshRemoving = "removing" // the run succeeded: what it did not see is removed
)

// RefreshStates are those two.
var RefreshStates = []string{RefreshReading, RefreshRemoving}

// Undated is the sort_at of a record without a date, the earliest time there is:
// it is in no count of days and no range of times, and people see null.
var Undated = coltype.First

// Why a line is refused. They are codes of lines, not of problems.
const (
	InvalidJSON   = "invalid_json"   // not JSON, not UTF-8, a byte order mark, or text behind the value
	InvalidRecord = "invalid_record" // JSON that breaks a rule; the detail says which
	LineTooLarge  = "line_too_large" // longer than MaxLine
	UnknownStream = "unknown_stream" // its connector does not declare it
	KeyMissing    = "key_missing"    // a key field is absent, null, an object or an array
	KeyMismatch   = "key_mismatch"   // key is not the one that the data has
	KeyTooLong    = "key_too_long"   // longer than MaxKey
)

// RefusalCodes are those, in the order of the checks.
var RefusalCodes = []string{LineTooLarge, InvalidJSON, InvalidRecord, UnknownStream, KeyMissing, KeyMismatch, KeyTooLong}

// Line is a line as its parser left it, or an element of an array. Refused says
// why it cannot be taken.
type Line struct {
	Index      int64        // of the physical line, or of the element
	Raw        []byte       // as it came, without its end; nil when it is longer than MaxLine
	Size       int64        // in bytes, also when Raw is nil
	Stream     string       // empty only for a checkpoint of all streams
	Op         string       // Upsert or Delete; empty for a checkpoint
	Key        string       // empty when it was not given
	Data       coltype.JSON // without white space between its tokens; nil when it was not given
	EmittedAt  coltype.Time
	Checkpoint coltype.JSON
	Refused    *Refusal

	sum   string // see hash
	asked *asked // what Prepare made; nil for a line without a record, or of an unknown stream
}

// Refusal is why a line cannot be taken.
type Refusal struct {
	Code   string // one of RefusalCodes
	Detail string
}

// Target is where lines go. A named run fences them: it must be running, and of
// the connection's current generation.
type Target struct {
	OwnerID, ConnectionID string
	RunID                 string // empty: none
	Generation            int64  // of RunID
	BatchID               string // for the quarantine; empty: none
}

// Rejected is a line that was refused. RejectionID is nil when the quarantine has
// no room for it.
type Rejected struct {
	Index       int64   `json:"index" doc:"Of the line in the body, or of the element in the array, from 0. Blank lines count."`
	Code        string  `json:"code" enum:"line_too_large,invalid_json,invalid_record,unknown_stream,key_missing,key_mismatch,key_too_long"`
	Detail      string  `json:"detail"`
	RejectionID *string `json:"rejection_id" nullable:"true" doc:"The quarantine keeps the line under this id; null when it has no room."`
}

// Written is what became of a chunk. Accepted counts upserts and deletes that
// changed a record, Unchanged those that found it so.
type Written struct {
	Accepted, Unchanged, Checkpoints int64
	Rejected                         []Rejected
}

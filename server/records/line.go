package records

import (
	"fmt"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/datum"
	"github.com/stint-run/stint/server/sources"
)

// read is what Prepare makes of a line's data.
type read struct {
	datum datum.Datum
	err   error
}

// Prepare makes what is kept beside the data of the lines, as far as it does not
// depend on how their streams are declared. Write does it for lines for which it
// was not done; before the transaction it keeps nobody waiting.
func Prepare(lines []Line) {
	for i := range lines {
		if l := &lines[i]; l.read == nil && l.Refused == nil && l.Data != nil {
			l.read = &read{}
			l.read.datum, l.read.err = datum.Of(l.Data)
		}
	}
}

// change is what a line asks of a record: to have this content, or to be deleted.
type change struct {
	stream, key string
	delete      bool
	content
}

// content is what a version of a record says. Data that are nil are those that
// the record has in the database.
type content struct {
	data              coltype.JSON
	hash, search      string
	emittedAt, sortAt coltype.Time
	datedBy           string
	badTime           bool
}

func (c content) dated() bool { return c.datedBy != DatedByNothing }

func refuse(code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// change is what the line asks of a record of the stream.
func (l *Line) change(stream sources.Stream) (change, *Refusal) {
	c := change{stream: stream.Name, delete: l.Op == Delete}
	switch {
	case l.Op != Upsert && l.Op != Delete:
		return c, refuse(InvalidRecord, "op is none of %s and %s", Upsert, Delete)
	case l.Data == nil && !c.delete:
		return c, refuse(InvalidRecord, "data is missing")
	case l.read != nil && l.read.err != nil:
		return c, refuse(InvalidRecord, "%v", l.read.err)
	}
	var refusal *Refusal
	if c.key, refusal = l.key(stream.PrimaryKey); refusal == nil && !c.delete {
		c.content = l.content(stream.TimeField)
	}
	return c, refusal
}

// key is the key of the line's record, from the data if there are any; one that
// the line names besides must be the same.
func (l *Line) key(fields []string) (string, *Refusal) {
	named, err := datum.NormalKey(l.Key, len(fields))
	key := named
	switch {
	case l.Key != "" && err != nil:
		return "", refuse(KeyMismatch, "%v", err)
	case l.read != nil:
		if key, err = l.read.datum.Key(fields); err != nil {
			return "", refuse(KeyMissing, "%v", err)
		}
	case l.Key == "":
		return "", refuse(KeyMissing, "a deletion names its record by key, or by data with the key fields")
	}
	switch {
	case l.Key != "" && named != key:
		return "", refuse(KeyMismatch, "key is not that of the data")
	case len(key) > MaxKey:
		return "", refuse(KeyTooLong, "the key is longer than %d bytes", MaxKey)
	}
	return key, nil
}

// content is what the line says of a record whose time is in that field, if any:
// sorted by that time, or else by when the source emitted it.
func (l *Line) content(timeField *string) content {
	d := l.read.datum
	c := content{data: l.Data, hash: d.Hash, search: d.Search, emittedAt: l.EmittedAt, sortAt: Undated, datedBy: DatedByNothing}
	if timeField != nil {
		c.sortAt, c.badTime = d.Instant(*timeField)
		c.datedBy = DatedByData
	}
	if timeField == nil || c.sortAt.IsZero() {
		c.sortAt, c.datedBy = l.EmittedAt, DatedByEmittedAt
		if l.EmittedAt.IsZero() || !l.EmittedAt.After(Undated) || datum.NoDate(l.EmittedAt) {
			c.sortAt, c.datedBy = Undated, DatedByNothing
		}
	}
	return c
}

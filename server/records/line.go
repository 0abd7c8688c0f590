package records

import (
	"fmt"
	"reflect"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/datum"
	"github.com/stint-run/stint/server/sources"
)

// asked is what Prepare made of a line, by the declaration of its stream.
type asked struct {
	by      sources.Stream
	change  change
	refusal *Refusal
}

// Prepare makes all that depends on the lines and on how their streams are declared:
// hashes, keys, times, search texts. Done before the transaction, it keeps nobody
// waiting; Write does it for lines for which it was not done, or whose streams are
// declared otherwise by then.
func Prepare(lines []Line, streams map[string]sources.Stream) {
	for i := range lines {
		l := &lines[i]
		if l.Refused != nil {
			l.hash()
		}
		if l.Refused != nil || l.Checkpoint != nil {
			continue
		}
		stream, declared := streams[l.Stream]
		if declared && (l.asked == nil || !reflect.DeepEqual(l.asked.by, stream)) {
			l.asked = &asked{by: stream}
			l.asked.change, l.asked.refusal = l.ask(stream)
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
// the record has in the database. Of a deletion it has at most when it was emitted.
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

// ask is what the line asks of a record of the stream.
func (l *Line) ask(stream sources.Stream) (change, *Refusal) {
	c := change{stream: stream.Name, delete: l.Op == Delete}
	switch {
	case l.Op != Upsert && l.Op != Delete:
		return c, refuse(InvalidRecord, "op is none of %s and %s", Upsert, Delete)
	case l.Data == nil && !c.delete:
		return c, refuse(InvalidRecord, "data is missing")
	}
	var d *datum.Datum
	if l.Data != nil {
		of, err := datum.Of(l.Data)
		if err != nil {
			return c, refuse(InvalidRecord, "%v", err)
		}
		d = &of
	}
	var refusal *Refusal
	c.key, refusal = l.key(d, stream.PrimaryKey)
	switch {
	case refusal != nil:
	case c.delete:
		c.emittedAt = l.EmittedAt
	default:
		c.content = l.content(d, stream.TimeField)
	}
	return c, refusal
}

// key is the key of the line's record, from its data if there are any; one that
// the line names besides must be the same.
func (l *Line) key(d *datum.Datum, fields []string) (string, *Refusal) {
	named, err := datum.NormalKey(l.Key, len(fields))
	key := named
	switch {
	case l.Key != "" && err != nil:
		return "", refuse(KeyMismatch, "%v", err)
	case d != nil:
		if key, err = d.Key(fields); err != nil {
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
func (l *Line) content(d *datum.Datum, timeField *string) content {
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

// Package keyset turns the pages of a list that is newest first by
// (created_at, id): where a page begins, and where the next one does.
//
// A list reads in index order and never sorts. A filter that no index leads
// with is applied to what the walk along an index finds; a walk ends after Walk
// entries, so a page may hold fewer items than were asked for, or none, though
// there is more.
package keyset

import (
	"time"

	"github.com/stint-run/stint/schema/coltype"
)

// Walk is how many index entries a page with a residual filter looks at.
const Walk = 2000

// Position is a place in a list: the last entry that a page has seen.
type Position struct {
	At coltype.Time
	ID string
}

// Top is before the newest entry: no time is later, and no id sorts after "~".
func Top() Position {
	return Position{At: coltype.At(time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)), ID: "~"}
}

// Cut makes a page of at most limit items from rows, of which one more was
// read. next is nil on the last page.
func Cut[T any](rows []T, limit int, at func(T) Position) (page []T, next *Position) {
	if len(rows) <= limit {
		return rows, nil
	}
	last := at(rows[limit-1])
	return rows[:limit], &last
}

// Pick takes up to limit entries that keep accepts from a walk, and returns
// their ids. next is where the walk goes on, nil when the list has ended.
func Pick[T any](walk []T, limit int, keep func(T) bool, at func(T) Position) (ids []string, next *Position) {
	ids = []string{}
	for i, entry := range walk {
		if !keep(entry) {
			continue
		}
		ids = append(ids, at(entry).ID)
		if len(ids) == limit && i < len(walk)-1 {
			last := at(entry)
			return ids, &last
		}
	}
	if len(walk) < Walk {
		return ids, nil
	}
	last := at(walk[len(walk)-1])
	return ids, &last
}

// InOrder returns the rows of ids in the order of ids; a row that is gone is
// left out.
func InOrder[T any](ids []string, rows []T, id func(T) string) []T {
	byID := make(map[string]T, len(rows))
	for _, row := range rows {
		byID[id(row)] = row
	}
	out := make([]T, 0, len(ids))
	for _, want := range ids {
		if row, ok := byID[want]; ok {
			out = append(out, row)
		}
	}
	return out
}

// Convert turns the rows of one statement into those of another that has the
// same columns: sqlc gives each statement a row type of its own.
func Convert[To, From any](rows []From, convert func(From) To) []To {
	out := make([]To, len(rows))
	for i, row := range rows {
		out[i] = convert(row)
	}
	return out
}

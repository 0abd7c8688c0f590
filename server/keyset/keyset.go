// Package keyset turns a declared list into pages.
//
// A List is data: the filters it knows, the statement for each filter that leads
// an index, and the position of a row. A list reads in the order of an index and
// never sorts. A filter that the index of the statement does not lead with is
// residual: it is applied to the entries that a walk along the index finds. A
// walk ends after Walk entries, so a page may hold fewer rows than were asked
// for, or none, though there is more.
package keyset

import "github.com/stint-run/stint/schema/coltype"

// Walk is how many index entries a page with a residual filter looks at.
const Walk = 2000

// Position is a place in a list: the last entry that a page has seen. A list by
// name has the name as ID.
type Position struct {
	At coltype.Time
	ID string
}

// Top is before the newest entry: no time is later, and no id sorts after "~".
func Top() Position { return Position{At: coltype.Latest, ID: "~"} }

// Bottom is before the oldest entry, and before every name.
func Bottom() Position { return Position{At: coltype.Earliest} }

// cut makes a page of at most limit rows, of which one more was read. next is
// nil on the last page.
func cut[T any](rows []T, limit int, at func(T) Position) (page []T, next *Position) {
	if len(rows) <= limit {
		return rows, nil
	}
	last := at(rows[limit-1])
	return rows[:limit], &last
}

// sift makes a page of the entries of a walk that keep accepts, at most limit of
// them. next is where the walk goes on, nil when the list has ended.
func sift[T any](walk []T, limit int, keep func(T) bool, at func(T) Position) (page []T, next *Position) {
	for i, entry := range walk {
		if !keep(entry) {
			continue
		}
		page = append(page, entry)
		if len(page) == limit && i < len(walk)-1 {
			last := at(entry)
			return page, &last
		}
	}
	if len(walk) < Walk {
		return page, nil
	}
	last := at(walk[len(walk)-1])
	return page, &last
}

// Convert converts every row, such as to what clients see.
func Convert[To, From any](rows []From, convert func(From) To) []To {
	out := make([]To, len(rows))
	for i, row := range rows {
		out[i] = convert(row)
	}
	return out
}

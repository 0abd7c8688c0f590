// Package keyset turns the pages of a list that is newest first by
// (created_at, id): where a page begins, and where the next one does.
//
// A list reads in index order and never sorts. A filter that no index leads
// with is applied to what the walk along an index finds; a walk ends after Walk
// entries, so a page may hold fewer items than were asked for, or none, though
// there is more.
package keyset

import (
	"encoding/json"
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

// Sift makes a page of the rows of a walk that keep accepts, for a list whose
// walk reads rows whole; at most limit of them. next is where the walk goes on,
// nil when the list has ended.
func Sift[T any](walk []T, limit int, keep func(T) bool, at func(T) Position) (page []T, next *Position) {
	for i, row := range walk {
		if !keep(row) {
			continue
		}
		page = append(page, row)
		if len(page) == limit && i < len(walk)-1 {
			last := at(row)
			return page, &last
		}
	}
	if len(walk) < Walk {
		return page, nil
	}
	last := at(walk[len(walk)-1])
	return page, &last
}

// Filter reads the pages of a list whose filter no index leads with. E is an
// entry of a walk, T a row.
type Filter[E, T any] struct {
	Keep  func(E) bool
	At    func(E) Position
	Rows  func(ids string) ([]T, error) // the rows of a JSON list of ids, in any order
	Entry func(T) E                     // what a walk finds of a row
}

// Page is up to limit rows of a walk that Keep accepts, in its order. Rows are
// read after the walk, so each is looked at again: one that has changed or is
// gone is left out. next is where the walk goes on, nil when the list has ended.
func (f Filter[E, T]) Page(walk []E, limit int) (page []T, next *Position, err error) {
	entries, next := Sift(walk, limit, f.Keep, f.At)
	if len(entries) == 0 {
		return nil, next, nil
	}
	ids := Convert(entries, func(e E) string { return f.At(e).ID })
	text, err := json.Marshal(ids)
	if err != nil {
		return nil, nil, err
	}
	rows, err := f.Rows(string(text))
	if err != nil {
		return nil, nil, err
	}
	return f.inOrder(ids, rows), next, nil
}

// inOrder is the rows of ids that are still to be kept.
func (f Filter[E, T]) inOrder(ids []string, rows []T) []T {
	byID := make(map[string]T, len(rows))
	for _, row := range rows {
		if entry := f.Entry(row); f.Keep(entry) {
			byID[f.At(entry).ID] = row
		}
	}
	out := make([]T, 0, len(ids))
	for _, id := range ids {
		if row, ok := byID[id]; ok {
			out = append(out, row)
		}
	}
	return out
}

// Convert converts every row of a page, as to what clients see.
func Convert[To, From any](rows []From, convert func(From) To) []To {
	out := make([]To, len(rows))
	for i, row := range rows {
		out[i] = convert(row)
	}
	return out
}

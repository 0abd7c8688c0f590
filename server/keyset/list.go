package keyset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// List declares a list. Q reads the database, In is what a request selects, Row
// is what the list shows, and Entry what a walk finds of a row: the members that
// filters and order need. Whole completes a list whose walks read rows whole.
type List[Q, In, Row, Entry any] struct {
	Name    string // of the rows, for errors
	Filters []*Filter[In, Entry]
	Leads   []Lead[Q, In, Row, Entry] // the first whose filters are all set reads; the last has none
	At      func(Entry) Position
	Entry   func(Row) Entry
	// ByIDs reads the rows of a JSON list of ids, in any order.
	ByIDs func(ctx context.Context, q Q, in In, ids string) ([]Row, error)
	// Parent, if set, is asked when nothing was found. Its error says that the row
	// to which the list belongs does not exist.
	Parent func(ctx context.Context, q Q, in In) error

	whole func([]Entry) []Row
}

// Filter is one member of In that may narrow a list.
type Filter[In, Entry any] struct {
	// Keep tells which entries of a walk stay. It is nil for a request that does
	// not filter by this member.
	Keep func(In) func(Entry) bool

	leads bool // it is never residual
}

// Equal is a filter by the value of one member; "" does not filter.
func Equal[In, Entry any](want func(In) string, has func(Entry) string) *Filter[In, Entry] {
	return &Filter[In, Entry]{Keep: func(in In) func(Entry) bool {
		wanted := want(in)
		if wanted == "" {
			return nil
		}
		return func(e Entry) bool { return has(e) == wanted }
	}}
}

// Leading is a filter by a member that never changes and has a Lead of its own,
// before every Lead without it. The walk of that Lead finds matching rows only,
// so entries are not compared; a request for which it does not lead is an error.
// "" does not filter.
func Leading[Entry, In any](want func(In) string) *Filter[In, Entry] {
	return &Filter[In, Entry]{leads: true, Keep: func(in In) func(Entry) bool {
		if want(in) == "" {
			return nil
		}
		return func(Entry) bool { return true }
	}}
}

// Filters are those of a list, or those that an index leads with.
func Filters[In, Entry any](all ...*Filter[In, Entry]) []*Filter[In, Entry] { return all }

// Lead is an index: the filters it leads with, the statement that reads a page
// along it, and the one that walks it. Walk is nil where no other filter can be
// set beside By.
type Lead[Q, In, Row, Entry any] struct {
	By   []*Filter[In, Entry]
	Page func(ctx context.Context, q Q, in In, from Position, max int64) ([]Row, error)
	Walk func(ctx context.Context, q Q, in In, from Position, max int64) ([]Entry, error)
}

// Statement is a generated statement with the arguments that select max rows
// behind a position.
func Statement[Q, In, Args, T any](args func(in In, from Position, max int64) Args, run func(Q, context.Context, Args) ([]T, error)) func(context.Context, Q, In, Position, int64) ([]T, error) {
	return func(ctx context.Context, q Q, in In, from Position, max int64) ([]T, error) {
		return run(q, ctx, args(in, from, max))
	}
}

// Whole is a list whose walks read whole rows, for rows that are small. It needs
// no Entry and no ByIDs.
func Whole[Q, In, Row any](l List[Q, In, Row, Row]) List[Q, In, Row, Row] {
	l.Entry = func(row Row) Row { return row }
	l.whole = func(rows []Row) []Row { return rows }
	return l
}

// Plain is a list that one statement reads, whole rows at a time; every filter is
// residual.
func Plain[Q, In, Row, Args any](name string, at func(Row) Position, args func(in In, from Position, max int64) Args, run func(Q, context.Context, Args) ([]Row, error), filters ...*Filter[In, Row]) List[Q, In, Row, Row] {
	read := Statement(args, run)
	return Whole(List[Q, In, Row, Row]{
		Name: name, At: at, Filters: filters,
		Leads: []Lead[Q, In, Row, Row]{{Page: read, Walk: read}},
	})
}

// Page is up to limit rows behind a position; next is where the list goes on,
// nil on its last page. One statement reads it, two when a filter is residual
// and rows are not read whole.
func (l List[Q, In, Row, Entry]) Page(ctx context.Context, q Q, in In, from Position, limit int) (page []Row, next *Position, err error) {
	var read int
	lead, residual, err := l.lead(in)
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", l.Name, err)
	}
	if residual {
		var walk []Entry
		walk, err = lead.Walk(ctx, q, in, from, Walk)
		read = len(walk)
		if err == nil {
			page, next, err = l.along(ctx, q, in, walk, limit)
		}
	} else {
		var rows []Row
		rows, err = lead.Page(ctx, q, in, from, int64(limit)+1)
		read = len(rows)
		page, next = cut(rows, limit, func(row Row) Position { return l.At(l.Entry(row)) })
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", l.Name, err)
	}
	if read == 0 && l.Parent != nil {
		err = l.Parent(ctx, q, in)
	}
	return page, next, err
}

// errNoLead is a fault of the declaration: without it rows would be shown that
// the request filtered out.
var errNoLead = errors.New("no lead has all filters that must lead, or the lead has no walk for the others")

// lead is the first index whose filters are all set, and whether a further
// filter is.
func (l List[Q, In, Row, Entry]) lead(in In) (lead Lead[Q, In, Row, Entry], residual bool, err error) {
	unset := func(f *Filter[In, Entry]) bool { return f.Keep(in) == nil }
	at := slices.IndexFunc(l.Leads, func(lead Lead[Q, In, Row, Entry]) bool { return !slices.ContainsFunc(lead.By, unset) })
	lead = l.Leads[at]
	for _, f := range l.Filters {
		if unset(f) || slices.Contains(lead.By, f) {
			continue
		}
		if residual = true; f.leads || lead.Walk == nil {
			err = errNoLead
		}
	}
	return lead, residual, err
}

// keep is the whole filter of a request.
func (l List[Q, In, Row, Entry]) keep(in In) func(Entry) bool {
	var set []func(Entry) bool
	for _, f := range l.Filters {
		if keep := f.Keep(in); keep != nil {
			set = append(set, keep)
		}
	}
	return func(e Entry) bool {
		return !slices.ContainsFunc(set, func(keep func(Entry) bool) bool { return !keep(e) })
	}
}

// along is the page of a walk: the rows that the filter keeps, in the walk's order.
func (l List[Q, In, Row, Entry]) along(ctx context.Context, q Q, in In, walk []Entry, limit int) ([]Row, *Position, error) {
	keep := l.keep(in)
	entries, next := sift(walk, limit, keep, l.At)
	if l.whole != nil {
		return l.whole(entries), next, nil
	}
	if len(entries) == 0 {
		return nil, next, nil
	}
	ids := Convert(entries, func(e Entry) string { return l.At(e).ID })
	text, err := json.Marshal(ids)
	if err != nil {
		return nil, nil, err
	}
	rows, err := l.ByIDs(ctx, q, in, string(text))
	return l.still(keep, ids, rows), next, err
}

// still is the rows of ids that the filter keeps. Rows are read after the walk,
// so each is looked at again: one that has changed or is gone is left out.
func (l List[Q, In, Row, Entry]) still(keep func(Entry) bool, ids []string, rows []Row) []Row {
	byID := make(map[string]Row, len(rows))
	for _, row := range rows {
		if e := l.Entry(row); keep(e) {
			byID[l.At(e).ID] = row
		}
	}
	out := make([]Row, 0, len(ids))
	for _, id := range ids {
		if row, ok := byID[id]; ok {
			out = append(out, row)
		}
	}
	return out
}

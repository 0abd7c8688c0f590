package web

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/keyset"
)

// PageQuery is embedded in the input of a list. An empty cursor= is refused like
// any parameter without a value; the first page has none.
type PageQuery struct {
	Limit  int64  `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many items a page holds at most."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before. It belongs to one list, filter and order."`
}

// Page is one page of a list. Only has_more = false ends a list: a page may be
// short, or empty, while it is true.
type Page[T any] struct {
	Data       []T     `json:"data"`
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor" nullable:"true"`
}

func (p *Page[T]) next() *string { return p.NextCursor }

// Orders of a list.
const (
	Newest = "newest" // by (time, id), descending
	Oldest = "oldest" // by (time, id), ascending
)

// Window is the part of a list that a request asks for.
type Window struct {
	Position       // rows stand behind it: before it for Newest, after it for Oldest
	Limit    int64 // items of the page

	cursors cursors
	bind    bind
}

// Fetch is how many rows to read: one more than the page holds says whether
// there are more.
func (w Window) Fetch() int64 { return w.Limit + 1 }

// Window reads where a page begins. The first page of a list begins at a bound
// that no row reaches. kind names the list.
func (a *API) Window(ctx context.Context, in PageQuery, kind, order string) (Window, error) {
	s := stateOf(ctx)
	w := Window{Limit: in.Limit, cursors: a.cursors, bind: bind{
		Kind:   kind,
		Owner:  s.principal.OwnerID,
		Route:  s.path,
		Filter: s.filter(),
		Order:  order,
	}}
	if in.Cursor != "" {
		var err error
		w.Position, err = a.cursors.decode(in.Cursor, w.bind)
		return w, err
	}
	w.Position = start(order)
	return w, nil
}

// start is the position before every row.
func start(order string) Position {
	if order == Oldest {
		return Position{At: coltype.At(time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC))}
	}
	return keyset.Top()
}

// filter is every parameter but limit and cursor; the values of a set are
// sorted, so that a reordered set resumes.
func (s *request) filter() string {
	query, _ := url.ParseQuery(s.query) // checkParams refused one that does not parse
	query.Del("limit")
	query.Del("cursor")
	for _, values := range query {
		slices.Sort(values)
	}
	return query.Encode()
}

// NewPage is the page of these items; the list goes on behind last, or ends if
// last is nil. A walk that was capped passes the last place it looked at.
func NewPage[T any](w Window, data []T, last *Position) *Page[T] {
	if data == nil {
		data = []T{}
	}
	p := &Page[T]{Data: data}
	if last != nil {
		cursor := w.cursors.encode(*last, w.bind)
		p.HasMore, p.NextCursor = true, &cursor
	}
	return p
}

package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/keyset"
)

// ListOf declares a route that lists. I is the request's input, which embeds
// PageQuery; every other parameter of it is the filter, which cursors are bound
// to. Row is what the part reads, Item is what clients see of it.
type ListOf[I listed, Row, Item any] struct {
	Kind  string // names the list in its cursors: never change it
	Order Order
	// Snapshot makes the snapshot of a first page. An order within a snapshot needs
	// it, no other has it; later pages have theirs from their cursors.
	Snapshot func(ctx context.Context, q model.Reader, in *I) (Snapshot, error)
	// Page reads up to w.Limit rows behind w.Position; most lists have it by PageOf.
	Page func(ctx context.Context, q model.Reader, in *I, w Window) ([]Row, *keyset.Position, error)
	Item func(r Row, now coltype.Time) Item
}

// PageOf reads pages of a list; filter is what a request of an owner selects.
func PageOf[I, In, Row, Entry any](list keyset.List[model.Reader, In, Row, Entry], filter func(ownerID string, in *I) In) func(context.Context, model.Reader, *I, Window) ([]Row, *keyset.Position, error) {
	return func(ctx context.Context, q model.Reader, in *I, w Window) ([]Row, *keyset.Position, error) {
		return list.Page(ctx, q, filter(Caller(ctx).OwnerID, in), w.Position, w.Limit)
	}
}

// Window is the part of a list that a request asks for.
type Window struct {
	Place
	Limit int // rows of the page
}

// List adds a route that reads a list: limit and cursor of the request, the
// fault invalid_cursor, the page as clients see it, and the Link to the next one.
func List[I listed, Row, Item any](a *API, op Op, of ListOf[I, Row, Item]) {
	if (of.Snapshot != nil) != (of.Order.layout == inSnapshot) {
		panic("web: " + op.Path + ": Snapshot is for an order within a snapshot, which needs it")
	}
	op.Method = http.MethodGet
	op.Faults = append(op.Faults, "invalid_cursor")
	Read(a, op, func(ctx context.Context, q model.Reader, now coltype.Time, in *I) (*Page[Item], error) {
		asked, bound := (*in).page(), stateOf(ctx).bind(of.Kind, of.Order)
		place, err := of.begin(ctx, q, in, func() (Place, error) { return a.cursors.decode(asked.Cursor, bound) })
		if err != nil {
			return nil, err
		}
		rows, last, err := of.Page(ctx, q, in, Window{Place: place, Limit: int(asked.Limit)})
		if err != nil {
			return nil, err
		}
		out := &Page[Item]{Data: keyset.Convert(rows, func(r Row) Item { return of.Item(r, now) })}
		if last != nil {
			place.Position = *last
			cursor := a.cursors.encode(place, bound)
			out.HasMore, out.NextCursor = true, &cursor
		}
		return out, nil
	})
}

// begin is where a page begins: where its cursor says, or before every row.
func (of ListOf[I, Row, Item]) begin(ctx context.Context, q model.Reader, in *I, decode func() (Place, error)) (Place, error) {
	if (*in).page().Cursor != "" {
		return decode()
	}
	place := Place{Position: of.Order.start}
	if of.Snapshot == nil {
		return place, nil
	}
	var err error
	place.Snapshot, err = of.Snapshot(ctx, q, in)
	return place, err
}

// bind is what the cursors of this request belong to.
func (s *request) bind(kind string, order Order) bind {
	return bind{Kind: kind, Owner: s.principal.OwnerID, Route: s.path, Filter: s.filter(), Order: order}
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

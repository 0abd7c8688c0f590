package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// versioned is a resource with a version: its answer carries an ETag, and
// If-None-Match is honoured.
type versioned interface{ ETag() string }

// paged is a Page of any items.
type paged interface{ next() *string }

// Read adds a route that reads. fn has no way to write; its result is the body.
func Read[I, O any](a *API, op Op, fn func(ctx context.Context, q model.Reader, now coltype.Time, in *I) (*O, error)) {
	register[I, O](a, op, false, func(ctx context.Context, in *I) *reply {
		s := stateOf(ctx)
		rep, err := read(ctx, a, op, fn, in)
		if err != nil {
			return problemReply(explain(ctx, err), s.id)
		}
		return rep
	})
}

func read[I, O any](ctx context.Context, a *API, op Op, fn func(ctx context.Context, q model.Reader, now coltype.Time, in *I) (*O, error), in *I) (*reply, error) {
	now, err := a.store.Time(ctx)
	if err != nil {
		return nil, err
	}
	out, err := fn(ctx, a.store, now, in)
	if err != nil {
		return nil, err
	}
	rep, err := jsonReply(op.status(), out)
	if err != nil {
		return nil, err
	}
	return stateOf(ctx).finishRead(rep, out), nil
}

// finishRead adds the headers that belong to the kind of body.
func (s *request) finishRead(rep *reply, out any) *reply {
	if v, ok := out.(versioned); ok {
		tag := v.ETag()
		rep.header.Set("ETag", tag)
		if matches(s.header.Values("If-None-Match"), tag, true) {
			rep.status = http.StatusNotModified
			rep.header.Del("Content-Type")
		}
	}
	if p, ok := out.(paged); ok && p.next() != nil {
		rep.header.Set("Link", "<"+s.nextPage(*p.next())+`>; rel="next"`)
	}
	return rep
}

// nextPage is the address of this list from cursor on.
func (s *request) nextPage(cursor string) string {
	query, _ := url.ParseQuery(s.query) // checkParams refused one that does not parse
	query.Set("cursor", cursor)
	return (&url.URL{Path: s.path, RawQuery: query.Encode()}).String()
}

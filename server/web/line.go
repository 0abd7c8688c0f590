package web

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/server/fault"
)

// parser checks lines of a stream as bodies of type L are checked elsewhere.
type parser[L any] struct {
	api    *API
	schema *huma.Schema
}

// newParser is the parser of a route's lines; the type must be free of what
// bodySchema refuses.
func newParser[L any](a *API, op Op) parser[L] {
	return parser[L]{api: a, schema: a.bodySchema(op.line, op.ID+"-line")}
}

// Parse reads a line: one JSON text in UTF-8 that the schema of L takes, without
// unknown or repeated members, and what Checked says besides. Its faults are those of
// a line that is JSON and breaks rules; an error means that it is no JSON text, or
// that ctx ended.
func (p parser[L]) Parse(ctx context.Context, line []byte) (*L, []fault.Item, error) {
	text, err := p.api.parse(ctx, p.schema, line, "the line")
	if err != nil {
		return nil, nil, err
	}
	faults := text.faults
	if !text.partial {
		faults = append(faults, p.api.validate(p.schema, text.tree)...)
	}
	if len(faults) > 0 {
		return nil, distinct(faults), nil
	}
	v := new(L)
	if err := json.Unmarshal(text.compact, v); err != nil {
		return nil, nil, fmt.Errorf("the line cannot be read: %w", err)
	}
	if c, ok := any(v).(Checked); ok {
		faults = distinct(c.Faults())
	}
	return v, faults, nil
}

package web

import (
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// mode is how closely the gate reads a value. Only what the schema describes is
// kept, and of that no more than it admits, so that the cost of a body beyond
// one walk over its bytes does not grow with the body.
type mode int

const (
	ours    mode = iota // described by the schema: kept for it
	free                // a client's own, unknown, or of the wrong kind: checked, only its kind is kept
	skipped             // beyond a bound that is already faulted: only its syntax is checked
)

// maxItems bounds lists whose schema sets no bound.
const maxItems = 1000

// foreignBound is how many bytes of a value that is refused anyway are searched
// for faults within it.
const foreignBound = 256 << 10

// The kinds of values that are not kept. Nobody writes to them.
var (
	someObject any = map[string]any{}
	someList   any = []any{}
)

// nest reads an object or a list. A schema of another kind does not look into it,
// and only so many bytes of it are searched for faults.
func (g *gate) nest(depth int, s *huma.Schema, m mode) (any, error) {
	read, kind := g.array, huma.TypeArray
	if g.peek() == '{' {
		read, kind = g.object, huma.TypeObject
	}
	if m != ours || (s != nil && s.Type == kind) {
		return read(depth, s, m)
	}
	g.bound = len(g.out) + foreignBound
	v, err := read(depth, nil, free)
	g.bound = 0
	return v, err
}

func (g *gate) object(depth int, s *huma.Schema, m mode) (any, error) {
	kept := someObject
	var members map[string]any
	if m == ours {
		members = map[string]any{}
		kept = members
	}
	o := seen{began: len(g.names)}
	err := g.list('}', func() error {
		name, m, err := g.name(&o, s, m)
		if err != nil {
			return err
		}
		g.path = append(g.path, step{name, -1})
		v, err := g.member(depth, property(s, name), m)
		g.path = g.path[:len(g.path)-1]
		if members != nil && m != skipped {
			keep(members, escapeName(name), v)
		}
		return err
	})
	g.names = g.names[:o.began]
	return kept, err
}

// keep keeps the first value of a name.
func keep(members map[string]any, name string, v any) {
	if _, twice := members[name]; !twice {
		members[name] = v
	}
}

// name reads a member's name and its colon, and says how to read its value.
func (g *gate) name(o *seen, s *huma.Schema, m mode) (string, mode, error) {
	if g.peek() != '"' {
		return "", m, g.broken("a member name is missing")
	}
	var name, detail string
	var err error
	if m == skipped || (m == free && g.blind()) {
		_, err = g.string(true)
	} else if name, detail, err = g.text(); err == nil {
		m, detail = g.admit(o, s, m, name, detail)
	}
	if err != nil {
		return "", m, err
	}
	if detail != "" {
		g.path = append(g.path, step{name, -1})
		g.fault(detail)
		g.path = g.path[:len(g.path)-1]
	}
	g.space()
	if g.peek() != ':' {
		return "", m, g.broken("a colon is missing")
	}
	g.take(1)
	g.space()
	return name, m, nil
}

// admit says how to read the value of a member with this name, and what is wrong
// with the name. Of a repeated member the schema sees the first value.
func (g *gate) admit(o *seen, s *huma.Schema, m mode, name, detail string) (mode, string) {
	if m == ours && !describes(s, name) {
		if g.unknown++; g.unknown > maxFaults {
			g.cut = true
			return skipped, detail
		}
	}
	if o.add(g, name) {
		return max(m, free), "the member is repeated"
	}
	return m, detail
}

func describes(s *huma.Schema, name string) bool {
	_, ok := s.Properties[escapeName(name)]
	return ok || s.AdditionalProperties != false
}

// blind reports that no further fault of a free value would be named, so that
// its names need not be remembered.
func (g *gate) blind() bool {
	return g.full() || (g.bound > 0 && len(g.out) > g.bound)
}

// member reads a member's value, cleans a CleanText, and measures one that is
// free-form.
func (g *gate) member(depth int, s *huma.Schema, m mode) (any, error) {
	if limit, clean := g.clean[s]; clean && m == ours && g.peek() == '"' {
		return g.cleaned(limit)
	}
	limit, clients := g.free[s]
	if m != ours || !clients {
		return g.value(depth, s, m)
	}
	began := len(g.out)
	if limit > 0 {
		g.bound = began + limit
	}
	v, err := g.value(0, nil, free)
	g.bound = 0
	if err == nil && limit > 0 && len(g.out)-began > limit {
		g.fault(fmt.Sprintf("the value is larger than %d bytes", limit))
	}
	return v, err
}

// array reads a list, of ours no more items than it may have.
func (g *gate) array(depth int, s *huma.Schema, m mode) (any, error) {
	kept, limit := []any{}, maxItems
	if m == ours && s.MaxItems != nil {
		limit = *s.MaxItems
	}
	i := 0
	err := g.list(']', func() error {
		if m == ours && i == limit {
			g.fault(fmt.Sprintf("expected at most %d items", limit))
			m, g.cut = skipped, true
		}
		g.path = append(g.path, step{index: i})
		i++
		v, err := g.value(depth, items(s), m)
		g.path = g.path[:len(g.path)-1]
		if m == ours {
			kept = append(kept, v)
		}
		return err
	})
	if len(kept) == 0 {
		return someList, err
	}
	return kept, err
}

// few is how many names are compared one by one before a map is worth it.
const few = 16

// seen are the names of one object: the gate's from began on, or the map's.
type seen struct {
	began int
	many  map[string]struct{}
}

// add notes a name and reports whether it was there.
func (o *seen) add(g *gate, name string) bool {
	if o.many != nil {
		n := len(o.many)
		o.many[name] = struct{}{}
		return len(o.many) == n
	}
	if slices.Contains(g.names[o.began:], name) {
		return true
	}
	g.names = append(g.names, name)
	if len(g.names)-o.began > few {
		o.many = make(map[string]struct{}, 4*few)
		for _, name := range g.names[o.began:] {
			o.many[name] = struct{}{}
		}
	}
	return false
}

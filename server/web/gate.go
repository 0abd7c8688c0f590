package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/server/fault"
)

// maxDepth bounds the nesting of a body, and anew that of each free-form value
// in it, since that is what is stored.
const maxDepth = 64

// text is what the gate made of a body.
type text struct {
	tree    any    // for the schema: values that it does not look into are represented by their kind
	compact []byte // the same text without white space between tokens
	faults  []fault.Item
	cut     bool // it holds too much, or more faults than are named: it is not to be decoded
	partial bool // the walk ended early: there is no tree
}

// parse walks the raw tokens of a body beside its schema. An error means that it
// is no JSON text in UTF-8, or that ctx ended; what is JSON but may not be stored
// is among the faults: NUL, lone surrogates, repeated members, depth, size; only a
// CleanText is mended instead. The tree grows with the schema, not with the body:
// see members.go. noun is what the errors call the text.
func (a *API) parse(ctx context.Context, schema *huma.Schema, body []byte, noun string) (text, error) {
	switch {
	case bytes.HasPrefix(body, []byte("\ufeff")):
		return text{}, errors.New(noun + " begins with a byte order mark")
	case !utf8.Valid(body):
		return text{}, errors.New(noun + " is not UTF-8")
	}
	g := &gate{
		ctx: ctx, registry: a.huma.OpenAPI().Components.Schemas, free: a.free, clean: a.clean,
		src: body, out: make([]byte, 0, len(body)),
	}
	g.space()
	if g.pos == len(body) {
		return text{}, errors.New(noun + " is empty")
	}
	tree, err := g.value(0, schema, ours)
	if errors.Is(err, errCut) {
		return text{faults: g.faults, cut: true, partial: true}, nil
	}
	if err != nil {
		return text{}, err
	}
	g.space()
	if g.pos != len(body) {
		return text{}, g.broken("text follows the JSON value")
	}
	return text{tree: tree, compact: g.out, faults: g.faults, cut: g.cut || g.full()}, nil
}

// errCut ends a walk without calling the text broken.
var errCut = errors.New("nested too deep")

type gate struct {
	ctx      context.Context // of this one walk
	registry huma.Registry
	free     freeForm
	clean    cleaning
	src      []byte
	pos      int
	out      []byte
	path     []step
	faults   []fault.Item

	turns   int      // of list, to look at ctx now and then
	names   []string // of the objects that are open, see seen
	unknown int      // members that no schema has
	bound   int      // of out, while in a free value with a limit; else 0
	cut     bool     // elements were left out
}

// step leads to a member by name (index is -1), or to an item by index.
type step struct {
	name  string
	index int
}

func (g *gate) fault(detail string) {
	if !g.full() {
		g.faults = append(g.faults, fault.Item{In: fault.InBody, Pointer: g.pointer(), Detail: detail})
	}
}

// full reports that no further fault would be named.
func (g *gate) full() bool { return len(g.faults) >= maxFaults }

// pointer is spelled out for faults only: most walks need none.
func (g *gate) pointer() string {
	names := make([]string, len(g.path))
	for i, s := range g.path {
		names[i] = s.name
		if s.index >= 0 {
			names[i] = strconv.Itoa(s.index)
		}
	}
	return pointer(names)
}

func (g *gate) broken(what string) error {
	return fmt.Errorf("%s at byte %d", what, g.pos)
}

func (g *gate) space() {
	for g.pos < len(g.src) {
		switch g.src[g.pos] {
		case ' ', '\t', '\n', '\r':
			g.pos++
		default:
			return
		}
	}
}

// peek is the next byte; 0 at the end, which no token begins with.
func (g *gate) peek() byte {
	if g.pos < len(g.src) {
		return g.src[g.pos]
	}
	return 0
}

// take copies the next n bytes to the compacted text.
func (g *gate) take(n int) {
	g.out = append(g.out, g.src[g.pos:g.pos+n]...)
	g.pos += n
}

// value reads one value, nested in depth others.
func (g *gate) value(depth int, s *huma.Schema, m mode) (any, error) {
	switch c := g.peek(); {
	case c == '{', c == '[':
		if depth == maxDepth {
			g.fault(fmt.Sprintf("the value is nested deeper than %d", maxDepth))
			return nil, errCut
		}
		return g.nest(depth+1, resolve(g.registry, s), m)
	case c == '"':
		return g.string(m != ours && depth > 0)
	case c == '-', '0' <= c && c <= '9':
		return g.number(m != ours && depth > 0)
	}
	for _, word := range []struct {
		text  string
		value any
	}{{"null", nil}, {"true", true}, {"false", false}} {
		if bytes.HasPrefix(g.src[g.pos:], []byte(word.text)) {
			g.take(len(word.text))
			return word.value, nil
		}
	}
	return nil, g.broken("a value is missing or malformed")
}

// list reads comma-separated elements up to the closing bracket.
func (g *gate) list(closing byte, element func() error) error {
	g.take(1)
	g.space()
	if g.peek() == closing {
		g.take(1)
		return nil
	}
	for {
		if g.turns++; g.turns%4096 == 0 && g.ctx.Err() != nil {
			return g.ctx.Err()
		}
		if err := element(); err != nil {
			return err
		}
		g.space()
		switch g.peek() {
		case closing:
			g.take(1)
			return nil
		case ',':
			g.take(1)
			g.space()
		default:
			return g.broken("a comma or a closing bracket is missing")
		}
	}
}

// number reads a number and keeps its digits, unless nobody asks for them.
func (g *gate) number(unseen bool) (any, error) {
	n := numberLength(g.src[g.pos:])
	if n == 0 {
		return nil, g.broken("a number is malformed")
	}
	if unseen {
		g.take(n)
		return nil, nil
	}
	v := json.Number(g.src[g.pos : g.pos+n])
	g.take(n)
	return v, nil
}

// string reads a text and faults what no engine may see in it.
func (g *gate) string(unseen bool) (any, error) {
	n, _, detail := stringLength(g.src[g.pos:])
	if detail != "" {
		g.fault(detail)
	}
	if unseen && n > 0 {
		g.take(n)
		return nil, nil
	}
	s, _, err := g.text()
	return s, err
}

// text reads a string; detail says what no engine may see in it.
func (g *gate) text() (s, detail string, err error) {
	n, escaped, detail := stringLength(g.src[g.pos:])
	if n == 0 {
		return "", "", g.broken("a string is malformed")
	}
	raw := g.src[g.pos : g.pos+n]
	g.take(n)
	if !escaped {
		return string(raw[1 : n-1]), detail, nil
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", "", g.broken("a string is malformed")
	}
	return s, detail, nil
}

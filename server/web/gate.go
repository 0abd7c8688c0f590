package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stint-run/stint/server/fault"
)

// maxDepth bounds the nesting of a body, and anew that of each free-form value
// in it, since that is what is stored.
const maxDepth = 64

// freeForm lists the members that hold a client's own JSON, with the bound of
// their compacted text in bytes; 0 leaves it to the body's. Inside them names
// mean nothing to us, so names that differ in case are two members.
var freeForm = map[string]int{
	"payload":  256 << 10,
	"result":   256 << 10,
	"progress": 16 << 10,
	"facts":    0,
	"data":     0,
}

// text is what the gate made of a body.
type text struct {
	tree    any    // for the schema: free-form values are represented by their kind
	compact []byte // the same text without white space between tokens
	faults  []fault.Item
	cut     bool // the walk ended early, at a value nested too deep
}

// parse walks the raw tokens of a body. An error means that it is no JSON text
// in UTF-8; what is JSON but may not be stored is among the faults: NUL, lone
// surrogates, repeated members, depth, size.
func parse(body []byte) (text, error) {
	switch {
	case bytes.HasPrefix(body, []byte("\ufeff")):
		return text{}, errors.New("the body begins with a byte order mark")
	case !utf8.Valid(body):
		return text{}, errors.New("the body is not UTF-8")
	}
	g := &gate{src: body, out: make([]byte, 0, len(body))}
	g.space()
	if g.pos == len(body) {
		return text{}, errors.New("the body is empty")
	}
	tree, err := g.value(0, false)
	if errors.Is(err, errCut) {
		return text{faults: g.faults, cut: true}, nil
	}
	if err != nil {
		return text{}, err
	}
	g.space()
	if g.pos != len(body) {
		return text{}, g.broken("text follows the JSON value")
	}
	return text{tree: tree, compact: g.out, faults: g.faults}, nil
}

// errCut ends a walk without calling the text broken.
var errCut = errors.New("nested too deep")

type gate struct {
	src    []byte
	pos    int
	out    []byte
	path   []step
	faults []fault.Item
}

// step leads to a member by name (index is -1), or to an item by index.
type step struct {
	name  string
	index int
}

func (g *gate) fault(detail string) {
	if len(g.faults) < maxFaults {
		g.faults = append(g.faults, fault.Item{In: fault.InBody, Pointer: g.pointer(), Detail: detail})
	}
}

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

// value reads one value, nested in depth others. Of a free value only the kind
// is kept.
func (g *gate) value(depth int, free bool) (any, error) {
	switch c := g.peek(); {
	case c == '{', c == '[':
		if depth == maxDepth {
			g.fault(fmt.Sprintf("the value is nested deeper than %d", maxDepth))
			return nil, errCut
		}
		if c == '{' {
			return g.object(depth+1, free)
		}
		return g.array(depth+1, free)
	case c == '"':
		return g.string(free && depth > 0)
	case c == '-', '0' <= c && c <= '9':
		return g.number(free && depth > 0)
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

func (g *gate) object(depth int, free bool) (any, error) {
	members := map[string]any{}
	seen := map[string]struct{}{}
	err := g.list('}', func() error {
		if g.peek() != '"' {
			return g.broken("a member name is missing")
		}
		name, err := g.name(seen)
		if err != nil {
			return err
		}
		g.space()
		if g.peek() != ':' {
			return g.broken("a colon is missing")
		}
		g.take(1)
		g.space()
		g.path = append(g.path, step{name, -1})
		v, err := g.member(name, depth, free)
		g.path = g.path[:len(g.path)-1]
		if !free {
			members[escapeName(name)] = v
		}
		return err
	})
	return members, err
}

// name reads a member's name and faults a repeated one.
func (g *gate) name(seen map[string]struct{}) (string, error) {
	name, detail, err := g.text()
	if err != nil {
		return "", err
	}
	if _, twice := seen[name]; twice {
		detail = "the member is repeated"
	}
	seen[name] = struct{}{}
	if detail != "" {
		g.path = append(g.path, step{name, -1})
		g.fault(detail)
		g.path = g.path[:len(g.path)-1]
	}
	return name, nil
}

// member reads a member's value, and measures one that is free-form.
func (g *gate) member(name string, depth int, free bool) (any, error) {
	limit, ours := freeForm[name]
	if free || !ours {
		return g.value(depth, free)
	}
	began := len(g.out)
	v, err := g.value(0, true)
	if err == nil && limit > 0 && len(g.out)-began > limit {
		g.fault(fmt.Sprintf("the value is larger than %d bytes", limit))
	}
	return v, err
}

func (g *gate) array(depth int, free bool) (any, error) {
	items := []any{}
	i := 0
	err := g.list(']', func() error {
		g.path = append(g.path, step{index: i})
		i++
		v, err := g.value(depth, free)
		g.path = g.path[:len(g.path)-1]
		if !free {
			items = append(items, v)
		}
		return err
	})
	return items, err
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

// pointer is the JSON pointer (RFC 6901) of a path. A name of a client's own
// may be long: what lies beyond 255 bytes of it is cut.
func pointer(path []string) string {
	var b strings.Builder
	for _, name := range path {
		b.WriteString(pointerTo(name))
	}
	return b.String()
}

func pointerTo(name string) string {
	if len(name) > 255 {
		name = strings.ToValidUTF8(name[:255], "") + "…"
	}
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(strings.ToValidUTF8(name, "\ufffd"))
}

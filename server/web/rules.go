package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
)

// maxText bounds text members whose schema sets no other bound, in bytes.
const maxText = 255

// noBody is the schema of a route without a body: nothing, or an empty object.
var noBody = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false}

// validate holds a body against its schema and returns every fault. The rules
// are huma's; refine adds those that it does not know. The gate bounds the tree,
// and so the faults that are sorted here.
func (a *API) validate(schema *huma.Schema, tree any) []fault.Item {
	registry := a.huma.OpenAPI().Components.Schemas
	r := &rules{registry: registry, names: a.names}
	tree = r.refine(schema, tree)
	res := &huma.ValidateResult{}
	huma.Validate(registry, schema, huma.NewPathBuffer([]byte("body"), 4), huma.ModeWriteToServer, tree, res)
	for _, err := range res.Errors {
		r.faults = append(r.faults, itemOf(err))
	}
	return distinct(r.faults)
}

// rules walks a value beside its schema.
type rules struct {
	registry huma.Registry
	names    names
	path     []string
	faults   []fault.Item
}

func (r *rules) fault(detail string) {
	r.faults = append(r.faults, fault.Item{In: fault.InBody, Pointer: pointer(r.path), Detail: detail})
}

// refine checks integers, times, the bound of texts and names, and returns the value
// with its numbers as huma wants them.
func (r *rules) refine(s *huma.Schema, v any) any {
	s = resolve(r.registry, s)
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = r.under(unescapeName(name), property(s, name), member)
		}
	case []any:
		for i, item := range v {
			v[i] = r.under(strconv.Itoa(i), items(s), item)
			if s != nil && s.UniqueItems {
				v[i] = setItem(v[i])
			}
		}
	case json.Number:
		return r.number(s, v)
	case string:
		if s != nil && s.Type == huma.TypeString {
			r.text(s, v)
		}
	}
	return v
}

// setItem is an item of a set: huma compares them, and a set holds no objects
// and lists, so that something of no kind stands for one.
func setItem(item any) any {
	switch item.(type) {
	case map[string]any, []any:
		return new(bool)
	}
	return item
}

func (r *rules) under(name string, s *huma.Schema, v any) any {
	r.path = append(r.path, name)
	v = r.refine(s, v)
	r.path = r.path[:len(r.path)-1]
	return v
}

func property(s *huma.Schema, name string) *huma.Schema {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[name]; ok {
		return p
	}
	more, _ := s.AdditionalProperties.(*huma.Schema)
	return more
}

func items(s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	return s.Items
}

// number is what huma compares with bounds. An integer of ours is a whole
// number of 64 bits without fraction and exponent; others are not our numbers.
func (r *rules) number(s *huma.Schema, n json.Number) any {
	if s != nil && s.Type == huma.TypeInteger {
		if _, err := n.Int64(); err != nil {
			r.fault("expected a whole number of at most 64 bits")
		}
	}
	f, _ := n.Float64() // beyond its range it is infinite, which every bound refuses
	return f
}

func (r *rules) text(s *huma.Schema, v string) {
	switch {
	case s.Format == "date-time":
		if detail := badTime(v); detail != "" {
			r.fault(detail)
		}
	case s.MaxLength == nil && len(s.Enum) == 0 && len(v) > maxText:
		r.fault(fmt.Sprintf("expected at most %d bytes", maxText))
	case r.names[s]:
		if detail := control.NameFault(v); detail != "" {
			r.fault(detail)
		}
	}
}

// badTime says why v is no time that both engines can keep: RFC 3339 with an
// offset, in years 2–9999 of UTC.
func badTime(v string) string {
	const detail = "expected an RFC 3339 time with an offset, such as 2026-01-31T08:00:00Z, in years 2 to 9999"
	rest, ok := timeShape(v)
	if !ok || (rest != "Z" && (rest[1:3] > "23" || rest[4:6] > "59")) {
		return detail
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil || t.UTC().Year() < 2 || t.UTC().Year() > 9999 {
		return detail
	}
	return ""
}

// timeShape reports whether v is written as RFC 3339 asks, and its offset.
func timeShape(v string) (offset string, ok bool) {
	const shape = "dddd-dd-ddTdd:dd:dd"
	if len(v) <= len(shape) || !shaped(v[:len(shape)], shape) {
		return "", false
	}
	rest := v[len(shape):]
	if rest[0] == '.' {
		n := digits([]byte(rest[1:]))
		if n == 0 || n > 9 {
			return "", false
		}
		rest = rest[1+n:]
	}
	return rest, rest == "Z" || shaped(rest, "+dd:dd") || shaped(rest, "-dd:dd")
}

func shaped(v, shape string) bool {
	if len(v) != len(shape) {
		return false
	}
	for i := range len(v) {
		if shape[i] == 'd' {
			if v[i] < '0' || v[i] > '9' {
				return false
			}
		} else if v[i] != shape[i] {
			return false
		}
	}
	return true
}

// escapeName writes a member's name so that huma's dotted locations can be read
// back. Names of ours are plain and stay as they are.
func escapeName(name string) string {
	if name == "" {
		return "%"
	}
	if !strings.ContainsAny(name, ".[]%") {
		return name
	}
	return nameEscaper.Replace(name)
}

var nameEscaper = strings.NewReplacer("%", "%25", ".", "%2E", "[", "%5B", "]", "%5D")

func unescapeName(name string) string {
	if name == "%" {
		return ""
	}
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// requiredPrefix begins huma's message about a missing member, which it reports
// at the object; the pointer leads to the member.
const requiredPrefix = "expected required property "

// itemOf reads huma's error: body.items[3].kind becomes /items/3/kind.
func itemOf(err error) fault.Item {
	var d *huma.ErrorDetail
	if !errors.As(err, &d) {
		return fault.Item{In: fault.InBody, Detail: "the value cannot be read"}
	}
	in, rest, _ := strings.Cut(d.Location, ".")
	in, index, _ := strings.Cut(in, "[")
	if index != "" {
		rest = "[" + strings.TrimPrefix(d.Location, in+"[")
	}
	item := fault.Item{In: in, Detail: d.Message}
	for _, name := range strings.FieldsFunc(rest, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		item.Pointer += pointerTo(unescapeName(name))
	}
	if after, ok := strings.CutPrefix(d.Message, requiredPrefix); ok {
		name, _, _ := strings.Cut(after, " ")
		item.Pointer += pointerTo(name)
		item.Detail = "the member is required"
	}
	if strings.HasPrefix(item.Detail, "invalid value:") {
		item.Detail = "the value cannot be read"
	}
	return item
}

// distinct keeps the first fault of each place, in the order of places.
func distinct(items []fault.Item) []fault.Item {
	slices.SortStableFunc(items, func(x, y fault.Item) int {
		return cmp.Or(cmp.Compare(x.In, y.In), cmp.Compare(x.Pointer, y.Pointer))
	})
	return slices.CompactFunc(items, func(x, y fault.Item) bool {
		return x.In == y.In && x.Pointer == y.Pointer
	})
}

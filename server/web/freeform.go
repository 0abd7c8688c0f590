package web

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/schema/coltype"
)

// freeForm holds the members of request bodies into which a client may put any
// JSON, by their schemas, with the bound of their compacted text in bytes; 0
// leaves it to the body's. Inside them names mean nothing to us, so names that
// differ in case are two members.
type freeForm map[*huma.Schema]int

// boundTag is the struct tag that bounds a free-form member or a CleanText:
// maxBytes:"16384", or maxBytes:"body" where the body's bound is enough. The
// document does not show it.
const boundTag = "maxBytes"

var (
	anyJSON = reflect.TypeFor[coltype.JSON]()
	rawJSON = reflect.TypeFor[json.RawMessage]()
)

// bodySchema is the schema of a request body. Its members of the types
// coltype.JSON and map[string]coltype.JSON are free-form, those of the type
// CleanText are cleaned, those of the type Name held against their rule. It panics
// on one without a bound, and on any other value that the schema cannot describe.
func (a *API) bodySchema(t reflect.Type, hint string) *huma.Schema {
	s := a.schema(t, hint)
	f := finder{registry: a.huma.OpenAPI().Components.Schemas, free: a.free, clean: a.clean, names: a.names, seen: map[reflect.Type]bool{}}
	f.value(t, s)
	return s
}

// finder walks a type beside its schema and notes what is free-form, what is
// cleaned, and what is a name.
type finder struct {
	registry huma.Registry
	free     freeForm
	clean    cleaning
	names    names
	seen     map[reflect.Type]bool // structs, so that the walk of a recursive type ends
}

func (f finder) value(t reflect.Type, s *huma.Schema) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s = resolve(f.registry, s)
	switch kind := t.Kind(); {
	case t == anyJSON, t == rawJSON, kind == reflect.Interface:
		panic(fmt.Sprintf("web: a body holds %s: only a member of type %s, or of a map of it, is free-form", t, anyJSON))
	case t == cleanText, t == nameText:
		panic(fmt.Sprintf("web: a body holds %s that is no member of an object", t))
	case s.Type == huma.TypeArray:
		f.value(t.Elem(), s.Items)
	case s.Type == huma.TypeObject && kind == reflect.Map:
		f.value(t.Elem(), property(s, ""))
	case s.Type == huma.TypeObject && kind == reflect.Struct && !f.seen[t]:
		f.seen[t] = true
		f.members(t, s)
	}
}

func (f finder) members(t reflect.Type, s *huma.Schema) {
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		member, ok := s.Properties[name]
		switch {
		case !ok:
		case field.Type == anyJSON, field.Type.Kind() == reflect.Map && field.Type.Elem() == anyJSON:
			f.free[member] = boundOf(t, field)
		case field.Type == cleanText:
			f.clean.note(member, boundOf(t, field))
		case isName(field.Type):
			f.names.note(member)
		default:
			f.value(field.Type, member)
		}
	}
}

// boundOf is the bound that a member names.
func boundOf(t reflect.Type, field reflect.StructField) int {
	text := field.Tag.Get(boundTag)
	if text == "body" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		panic(fmt.Sprintf("web: %s of %s needs a bound, such as %s:\"16384\" or %s:\"body\"", field.Name, t, boundTag, boundTag))
	}
	return n
}

// resolve follows the references of a schema.
func resolve(registry huma.Registry, s *huma.Schema) *huma.Schema {
	for s != nil && s.Ref != "" {
		s = registry.SchemaFromRef(s.Ref)
	}
	return s
}

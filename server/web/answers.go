package web

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// answerSchema is the schema of an answer. Beyond what huma sees: the members
// of an embedded struct whose name is not exported are there, as encoding/json
// writes them; null is a value of a nullable enum; and no object is closed, for
// a later build may add members.
func (a *API) answerSchema(t reflect.Type, hint string) *huma.Schema {
	s := a.schema(t, hint)
	a.complete(t, hint, map[reflect.Type]bool{})
	return s
}

// complete mends the schemas of t and of all that t holds.
func (a *API) complete(t reflect.Type, hint string, seen map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		a.complete(t.Elem(), hint, seen)
		return
	case reflect.Struct:
	default:
		return
	}
	named := a.schema(t, hint)
	if seen[t] || named.Ref == "" {
		return
	}
	seen[t] = true
	s := a.huma.OpenAPI().Components.Schemas.SchemaFromRef(named.Ref)
	for f := range fieldsOf(t) {
		if f.Anonymous && !f.IsExported() && f.Tag.Get("json") == "" {
			a.embed(s, f.Type, seen)
		} else if f.IsExported() {
			a.complete(f.Type, "", seen)
		}
	}
	s.AdditionalProperties = nil
	for _, member := range s.Properties {
		if member.Nullable && len(member.Enum) > 0 && !slices.Contains(member.Enum, nil) {
			member.Enum = append(member.Enum, nil)
		}
	}
}

// embed adds the members of t to s. They may be missing if t is a pointer.
func (a *API) embed(s *huma.Schema, t reflect.Type, seen map[reflect.Type]bool) {
	optional := t.Kind() == reflect.Pointer
	if optional {
		t = t.Elem()
	}
	a.complete(t, "", seen)
	inner := a.huma.OpenAPI().Components.Schemas.SchemaFromRef(a.schema(t, "").Ref)
	for name, member := range inner.Properties {
		s.Properties[name] = member
	}
	if !optional {
		s.Required = append(slices.Clone(inner.Required), s.Required...)
	}
}

func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

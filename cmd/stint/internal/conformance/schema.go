package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// document is the API's OpenAPI document: the routes there are, and what their
// bodies may hold.
type document struct {
	Paths map[string]map[string]struct {
		RequestBody struct {
			Content map[string]struct{ Schema *schema }
		}
		Responses map[string]struct {
			Content map[string]struct{ Schema *schema }
		}
	}
	Components struct{ Schemas map[string]*schema }
}

// schema is the part of JSON Schema that the document uses.
type schema struct {
	Ref                  string `json:"$ref"`
	Type                 types
	Properties           map[string]*schema
	AdditionalProperties json.RawMessage `json:"additionalProperties"` // false: no others
	Required             []string
	Items                *schema
	Enum                 []any
	Pattern              string
	Minimum, Maximum     *float64
	MinLength, MaxLength *int
	MinItems, MaxItems   *int
}

// types is a name, or a list of names.
type types []string

func (t *types) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = types{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

func parseDocument(text []byte) (d *document, err error) {
	if err = json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	return d, nil
}

// body is the schema of a route's body; known tells whether there is the route.
func (d *document) body(method, path string) (s *schema, known bool) {
	for route, methods := range d.Paths {
		if op, ok := methods[strings.ToLower(method)]; ok && matches(route, path) {
			return op.RequestBody.Content["application/json"].Schema, true
		}
	}
	return nil, false
}

// matches tells whether a path is of a route such as /v1/jobs/{id}/fail.
func matches(route, path string) bool {
	want, got := strings.Split(route, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i, part := range want {
		if part != got[i] && (!strings.HasPrefix(part, "{") || !strings.Contains(got[i], "_")) {
			return false
		}
	}
	return true
}

// faults are what is wrong with a value, each behind a pointer to it.
func (d *document) faults(s *schema, at string, v any) (all []string) {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		return d.faults(d.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]], at, v)
	}
	bad := func(format string, args ...any) { all = append(all, at+": "+fmt.Sprintf(format, args...)) }
	if name := typeOf(v); len(s.Type) > 0 && !slices.Contains(s.Type, name) && (name != "integer" || !slices.Contains(s.Type, "number")) {
		bad("%s instead of %s", name, strings.Join(s.Type, " or "))
		return all
	}
	if s.Enum != nil && !slices.Contains(s.Enum, v) {
		bad("%v is none of %v", v, s.Enum)
	}
	switch v := v.(type) {
	case float64:
		if below(s.Minimum, v) || above(s.Maximum, v) {
			bad("%v is out of bounds", v)
		}
	case string:
		if n := float64(utf8.RuneCountInString(v)); below(s.MinLength, n) || above(s.MaxLength, n) {
			bad("%v characters", n)
		}
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) {
			bad("%.40q does not match %s", v, s.Pattern)
		}
	case []any:
		if n := float64(len(v)); below(s.MinItems, n) || above(s.MaxItems, n) {
			bad("%v items", n)
		}
		for i, item := range v {
			all = append(all, d.faults(s.Items, fmt.Sprintf("%s/%d", at, i), item)...)
		}
	case map[string]any:
		all = append(all, d.members(s, at, v)...)
	}
	return all
}

// members are the faults of an object.
func (d *document) members(s *schema, at string, v map[string]any) (all []string) {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			all = append(all, at+"/"+name+": missing")
		}
	}
	for name, value := range v {
		of, known := s.Properties[name]
		if !known && string(s.AdditionalProperties) == "false" {
			all = append(all, at+"/"+name+": unknown member")
		}
		all = append(all, d.faults(of, at+"/"+name, value)...)
	}
	return all
}

func below[T int | float64](bound *T, v float64) bool { return bound != nil && v < float64(*bound) }
func above[T int | float64](bound *T, v float64) bool { return bound != nil && v > float64(*bound) }

// typeOf is the name of a value's type in JSON Schema.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

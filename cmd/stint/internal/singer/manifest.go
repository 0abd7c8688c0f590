package singer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Schema is what a stream is to its connector.
type Schema struct {
	Stream    string
	Key       []string // empty: the stream has none, so that a record is never replaced
	TimeField string   // empty: none is known
}

// schemaOf is the schema of a SCHEMA message. The first bookmark that is a point in
// time is taken for when a record's thing happened.
func schemaOf(m message) Schema {
	s := Schema{Stream: m.Stream, Key: *m.KeyProperties}
	for _, name := range m.BookmarkProperties {
		if s.TimeField == "" && isDateTime(m.Schema, name) {
			s.TimeField = name
		}
	}
	return s
}

// isDateTime tells whether a property of a JSON schema is a date-time, or may be.
func isDateTime(schema json.RawMessage, name string) bool {
	type property struct {
		Format string `json:"format"`
	}
	var s struct {
		Properties map[string]struct {
			property
			AnyOf []property `json:"anyOf"`
			OneOf []property `json:"oneOf"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	p := s.Properties[name]
	return slices.ContainsFunc(slices.Concat([]property{p.property}, p.AnyOf, p.OneOf), func(one property) bool {
		return one.Format == "date-time"
	})
}

// object is a JSON object whose values keep their spelling.
type object map[string]json.RawMessage

// Merge puts a stream into a manifest, and tells whether that changes it. What a
// person has added stays: other members, and a time_field.
func Merge(manifest json.RawMessage, s Schema) (json.RawMessage, bool, error) {
	whole, streams, err := read(manifest)
	if err != nil {
		return nil, false, err
	}
	i := slices.IndexFunc(streams, func(o object) bool { return o.name() == s.Stream })
	if i < 0 {
		i, streams = len(streams), append(streams, object{"name": text(s.Stream)})
	}
	if !streams[i].declare(s) {
		return manifest, false, nil
	}
	whole["streams"] = text(streams)
	return text(whole), true, nil
}

// read reads a manifest and its streams.
func read(manifest json.RawMessage) (whole object, streams []object, err error) {
	if err := json.Unmarshal(manifest, &whole); err != nil || whole == nil {
		return nil, nil, errors.New("the manifest cannot be read: put it anew")
	}
	if list, given := whole["streams"]; given {
		if err := json.Unmarshal(list, &streams); err != nil {
			return nil, nil, fmt.Errorf("read the manifest's streams: %w", err)
		}
	}
	return whole, streams, nil
}

// What a stream's records are, in a manifest's words.
const (
	appendOnly   = "append_only"   // they are never replaced nor removed
	mutableState = "mutable_state" // each is the present state of something
)

// Mutable are the streams that a manifest declares; true: their records are replaced
// and removed.
func Mutable(manifest json.RawMessage) (map[string]bool, error) {
	_, streams, err := read(manifest)
	if err != nil {
		return nil, err
	}
	mutable := map[string]bool{}
	for _, s := range streams {
		mutable[s.name()] = s.text("semantics") == mutableState
	}
	return mutable, nil
}

func (o object) name() string { return o.text("name") }

func (o object) text(member string) (value string) {
	_ = json.Unmarshal(o[member], &value) // what is no text is none of ours
	return value
}

func (o object) key() (key []string) {
	_ = json.Unmarshal(o["primary_key"], &key)
	return key
}

// declare makes o say what the schema says, and tells whether it did not. The order
// of the key's fields stays, since it is part of every record's key, and some taps
// have none.
func (o object) declare(s Schema) bool {
	changed := false
	set := func(name string, value any) {
		if v := text(value); !bytes.Equal(o[name], v) {
			o[name], changed = v, true
		}
	}
	declared := o["primary_key"] != nil
	key := o.key()
	if !declared || !sameSet(key, s.Key) {
		set("primary_key", s.Key)
	}
	switch {
	case len(s.Key) == 0:
		set("semantics", appendOnly)
	case len(key) == 0:
		set("semantics", mutableState)
	}
	if s.TimeField != "" && absent(o["time_field"]) {
		set("time_field", s.TimeField)
	}
	return changed
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// text is v as JSON, with the values in it as they are spelled.
func text(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // only for values that this package does not make
	}
	return bytes.TrimSpace(b.Bytes())
}

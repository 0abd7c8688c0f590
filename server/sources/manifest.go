package sources

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
)

// Bounds of a manifest.
const (
	maxStreams = 200
	maxKey     = 8   // fields of a key
	maxName    = 200 // characters of what people read
	maxText    = 255 // bytes of what they do not
)

var (
	connectorID = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,62}$`)
	streamName  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
)

// Manifest is what the server needs of a manifest. Whatever else stands in one is
// its connector's own.
type Manifest struct {
	DisplayName string // "": none
	Streams     []Stream
}

// ParseManifest reads a manifest; the pointers of its faults begin with at. Names of
// members are told apart by case, as everywhere.
func ParseManifest(text []byte, at string) (Manifest, []fault.Item) {
	r := &reading{}
	var m Manifest
	members, ok := r.object(at, text)
	if !ok {
		return m, r.faults
	}
	m.DisplayName = r.optional(at, members, "display_name", readable)
	r.optional(at, members, "version", readable)
	list, ok := r.list(at+"/streams", members["streams"], maxStreams)
	if ok {
		for i, text := range list {
			m.Streams = append(m.Streams, r.stream(at+"/streams/"+strconv.Itoa(i), text, m.Streams))
		}
	}
	return m, r.faults
}

// reading collects the faults of a manifest.
type reading struct{ faults []fault.Item }

func (r *reading) wrong(at, detail string) {
	r.faults = append(r.faults, fault.Item{Pointer: at, Detail: detail})
}

// stream is one stream of the list; those before it have other names.
func (r *reading) stream(at string, text json.RawMessage, before []Stream) (s Stream) {
	members, ok := r.object(at, text)
	if !ok {
		return s
	}
	s.Name = r.required(at, members, "name", func(name string) string {
		switch {
		case !streamName.MatchString(name):
			return "takes 1 to 128 letters, digits, '_', '.' and '-', and begins with none of the last two"
		case slices.ContainsFunc(before, func(b Stream) bool { return b.Name == name }):
			return "another stream has that name"
		}
		return ""
	})
	s.Semantics = r.required(at, members, "semantics", func(word string) string {
		if !slices.Contains(Semantics, word) {
			return "is none of " + strings.Join(Semantics, ", ")
		}
		return ""
	})
	s.PrimaryKey = r.key(at+"/primary_key", members["primary_key"], s.Semantics)
	if field := r.optional(at, members, "time_field", fieldName); field != "" {
		s.TimeField = &field
	}
	s.Label = r.optional(at, members, "label", readable)
	if s.Label == "" {
		s.Label = s.Name
	}
	return s
}

// key is the fields of a primary key. Streams of mutable_state need at least one.
func (r *reading) key(at string, text json.RawMessage, semantics string) []string {
	fields := []string{}
	list, ok := r.list(at, text, maxKey)
	if !ok {
		return fields
	}
	if len(list) == 0 && semantics == MutableState {
		r.wrong(at, "expected at least one field: only records of "+AppendOnly+" may have no key")
	}
	for i, text := range list {
		field := r.text(at+"/"+strconv.Itoa(i), text, func(field string) string {
			if slices.Contains(fields, field) {
				return "the field is named twice"
			}
			return fieldName(field)
		})
		fields = append(fields, field)
	}
	return fields
}

func (r *reading) object(at string, text []byte) (members map[string]json.RawMessage, ok bool) {
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		r.wrong(at, "expected an object")
		return nil, false
	}
	return members, true
}

func (r *reading) list(at string, text json.RawMessage, most int) (list []json.RawMessage, ok bool) {
	if text == nil {
		r.wrong(at, "is required")
		return nil, false
	}
	if err := json.Unmarshal(text, &list); err != nil || list == nil {
		r.wrong(at, "expected an array")
		return nil, false
	}
	if len(list) > most {
		r.wrong(at, fmt.Sprintf("expected at most %d elements", most))
		return nil, false
	}
	return list, true
}

func (r *reading) required(at string, members map[string]json.RawMessage, name string, fault func(string) string) string {
	if members[name] == nil {
		r.wrong(at+"/"+name, "is required")
		return ""
	}
	return r.text(at+"/"+name, members[name], fault)
}

func (r *reading) optional(at string, members map[string]json.RawMessage, name string, fault func(string) string) string {
	if members[name] == nil {
		return ""
	}
	return r.text(at+"/"+name, members[name], fault)
}

// text is a text without a fault, and else "".
func (r *reading) text(at string, text json.RawMessage, fault func(string) string) string {
	var value *string
	if err := json.Unmarshal(text, &value); err != nil || value == nil {
		r.wrong(at, "expected a text")
		return ""
	}
	if detail := fault(*value); detail != "" {
		r.wrong(at, detail)
		return ""
	}
	return *value
}

// readable is the fault of a text that people read.
func readable(text string) string {
	if n := utf8.RuneCountInString(text); n < 1 || n > maxName {
		return fmt.Sprintf("expected 1 to %d characters", maxName)
	}
	return control.NameFault(text)
}

// fieldName is the fault of the name of a member of the data.
func fieldName(text string) string {
	if text == "" || len(text) > maxText {
		return fmt.Sprintf("expected 1 to %d bytes", maxText)
	}
	return ""
}

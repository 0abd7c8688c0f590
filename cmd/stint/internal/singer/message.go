// Package singer takes the messages of a Singer tap, one JSON object a line, and
// makes lines of records of them.
//
// The messages are those of the specification, https://hub.meltano.com/singer/spec:
// SCHEMA, RECORD and STATE; and ACTIVATE_VERSION, which singer-python calls
// experimental and database taps send.
package singer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Types of messages. A tap may send others, which say nothing to a target.
const (
	typeSchema   = "SCHEMA"
	typeRecord   = "RECORD"
	typeState    = "STATE"
	typeActivate = "ACTIVATE_VERSION"
	// typeBatch names files with records. They would be missed.
	typeBatch = "BATCH"
)

// message is one line of a tap.
type message struct {
	Type               string          `json:"type"`
	Stream             string          `json:"stream"`
	Schema             json.RawMessage `json:"schema"`
	KeyProperties      *[]string       `json:"key_properties"`
	BookmarkProperties []string        `json:"bookmark_properties"`
	Record             json.RawMessage `json:"record"`
	TimeExtracted      *string         `json:"time_extracted"`
	Value              json.RawMessage `json:"value"`
	Version            *int64          `json:"version"`
}

// parse reads a message, and refuses one that lacks what its type needs.
func parse(line []byte) (message, error) {
	var m message
	err := json.Unmarshal(line, &m)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && syntax.Offset >= int64(len(line)) {
		return m, errors.New("it breaks off in the middle")
	}
	if err != nil {
		return m, fmt.Errorf("it is no message: %w", err)
	}
	if m.Type == "" {
		return m, errors.New("it has no type")
	}
	m.Type = strings.ToUpper(m.Type)
	return m, m.check()
}

func (m *message) check() error {
	streamless := []string{typeState, typeBatch}
	known := []string{typeSchema, typeRecord, typeState, typeActivate, typeBatch}
	if slices.Contains(known, m.Type) && !slices.Contains(streamless, m.Type) && m.Stream == "" {
		return fmt.Errorf("a %s names no stream", m.Type)
	}
	switch m.Type {
	case typeSchema:
		return m.checkSchema()
	case typeRecord:
		return m.checkRecord()
	case typeState:
		if absent(m.Value) {
			return errors.New("a STATE has no value")
		}
	case typeActivate:
		if m.Version == nil {
			return errors.New("an ACTIVATE_VERSION has no version")
		}
	case typeBatch:
		return errors.New("BATCH messages, which name files, are not supported: let the tap send its records as messages")
	}
	return nil
}

func (m *message) checkSchema() error {
	if !isObject(m.Schema) {
		return errors.New("a SCHEMA has no object as its schema")
	}
	if m.KeyProperties == nil {
		return errors.New("a SCHEMA has no key_properties; an empty list says that there is no key")
	}
	return nil
}

func (m *message) checkRecord() error {
	if !isObject(m.Record) {
		return errors.New("a RECORD has no object as its record")
	}
	if m.TimeExtracted == nil {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, *m.TimeExtracted); err != nil {
		return fmt.Errorf("its time_extracted is not as in RFC 3339: %q", *m.TimeExtracted)
	}
	return nil
}

func absent(v json.RawMessage) bool { return len(v) == 0 || bytes.Equal(v, []byte("null")) }

func isObject(v json.RawMessage) bool { return len(v) > 0 && v[0] == '{' }

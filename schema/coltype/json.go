package coltype

import (
	"bytes"
	"database/sql/driver"
	"fmt"
)

// JSON is a JSON value exactly as it was accepted: `json` in PostgreSQL, TEXT
// in SQLite, never rewritten by SQL. A nil JSON is SQL NULL; the JSON value
// null is JSON("null").
type JSON []byte

// MarshalJSON writes the value as it stands, and null when it is absent.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == nil {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps the bytes; a present null stays the value null.
func (j *JSON) UnmarshalJSON(b []byte) error {
	*j = bytes.Clone(b)
	return nil
}

// Scan reads text or bytes; NULL becomes nil.
func (j *JSON) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*j = nil
	case string:
		*j = JSON(v)
	case []byte:
		*j = bytes.Clone(v)
	default:
		return fmt.Errorf("scan json: %T is not text", src)
	}
	return nil
}

// Value is the text of the value, or NULL.
func (j JSON) Value() (driver.Value, error) {
	if j == nil {
		return nil, nil
	}
	return string(j), nil
}

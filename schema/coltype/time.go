package coltype

import (
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Layout is the one text form of a Time: RFC 3339 in UTC with six decimals.
const Layout = "2006-01-02T15:04:05.000000Z07:00"

// Time is an instant in UTC, truncated to microseconds: timestamptz in
// PostgreSQL, INTEGER microseconds since the Unix epoch in SQLite. The zero
// Time is NULL.
type Time struct{ time.Time }

// At is t in UTC, truncated to the microseconds both engines store.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.UTC().Truncate(time.Microsecond)}
}

// FromMicros is the instant us microseconds after the Unix epoch.
func FromMicros(us int64) Time { return Time{time.UnixMicro(us).UTC()} }

// Add is t moved by d, truncated to microseconds.
func (t Time) Add(d time.Duration) Time { return At(t.Time.Add(d)) }

// Before reports whether t is earlier than u.
func (t Time) Before(u Time) bool { return t.Time.Before(u.Time) }

// After reports whether t is later than u.
func (t Time) After(u Time) bool { return t.Time.After(u.Time) }

// Equal reports whether t and u are the same instant.
func (t Time) Equal(u Time) bool { return t.Time.Equal(u.Time) }

// Sub is the time that passed from u to t.
func (t Time) Sub(u Time) time.Duration { return t.Time.Sub(u.Time) }

// Later is the later one of t and u.
func Later(t, u Time) Time {
	if t.Before(u) {
		return u
	}
	return t
}

// String is t in the form of Layout; "" for the zero Time.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.Time.Format(Layout)
}

// MarshalJSON writes t in the form of Layout, and null for the zero Time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.String() + `"`), nil
}

// UnmarshalJSON reads RFC 3339 with any offset, or null.
func (t *Time) UnmarshalJSON(b []byte) error {
	var v time.Time
	if err := v.UnmarshalJSON(b); err != nil {
		return err
	}
	*t = At(v)
	return nil
}

// UnmarshalText reads RFC 3339 with any offset, as a parameter of a query.
func (t *Time) UnmarshalText(b []byte) error {
	var v time.Time
	if err := v.UnmarshalText(b); err != nil {
		return err
	}
	*t = At(v)
	return nil
}

// Scan reads the INTEGER microseconds that SQLite stores.
func (t *Time) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*t = Time{}
	case int64:
		*t = FromMicros(v)
	case time.Time:
		*t = At(v)
	default:
		return fmt.Errorf("scan time: %T is neither integer microseconds nor a time", src)
	}
	return nil
}

// Value is what SQLite stores: INTEGER microseconds, or NULL.
func (t Time) Value() (driver.Value, error) {
	if t.IsZero() {
		return nil, nil
	}
	return t.UnixMicro(), nil
}

// ScanTimestamptz reads a timestamptz; pgx calls it instead of Scan.
func (t *Time) ScanTimestamptz(v pgtype.Timestamptz) error {
	if v.InfinityModifier != pgtype.Finite {
		return fmt.Errorf("scan time: %s is not an instant", v.InfinityModifier)
	}
	*t = Time{}
	if v.Valid {
		*t = At(v.Time)
	}
	return nil
}

// TimestamptzValue is what PostgreSQL stores; pgx calls it instead of Value.
func (t Time) TimestamptzValue() (pgtype.Timestamptz, error) {
	return pgtype.Timestamptz{Time: t.Time, Valid: !t.IsZero()}, nil
}

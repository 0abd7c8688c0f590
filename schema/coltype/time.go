package coltype

import (
	"database/sql/driver"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Layout is the one text form of a Time: RFC 3339 in UTC with six decimals.
const Layout = "2006-01-02T15:04:05.000000Z07:00"

// Time is an instant in UTC, truncated to microseconds: timestamptz in
// PostgreSQL, INTEGER microseconds since the Unix epoch in SQLite. The zero
// Time is NULL.
//
// A column may hold what no client can write: infinity, or a year that has no
// text form. Such a Time compares as it is stored and is written back unchanged,
// so that a statement finds the row by it; people see First or Last.
type Time struct{ time.Time }

// First and Last bound the times that people see and that CHECKs let in.
var (
	First = Time{time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC)}
	Last  = Time{time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)}
)

// Earliest and Latest are what 64 bits of microseconds hold: PostgreSQL's
// infinities. It has later finite times, of 29 years, which are read as Latest.
var (
	Earliest = Time{time.UnixMicro(math.MinInt64).UTC()}
	Latest   = Time{time.UnixMicro(math.MaxInt64).UTC()}
)

// firstFinite is before every finite time of PostgreSQL, which begins in 4714 BC.
var firstFinite = time.Date(-4712, 1, 1, 0, 0, 0, 0, time.UTC)

// At is t in UTC, truncated to the microseconds both engines store.
func At(t time.Time) Time {
	switch {
	case t.IsZero():
		return Time{}
	case t.Before(Earliest.Time):
		return Earliest
	case t.After(Latest.Time):
		return Latest
	}
	return Time{t.UTC().Truncate(time.Microsecond)}
}

// read is At for a time that a column held; it tells the log of one that no
// CHECK would let in, once in a process.
func read(t time.Time) Time {
	at := At(t)
	if !at.IsZero() && at != at.shown() && !told.Swap(true) {
		slog.Warn("the database holds a time outside the years 2 to 9999, which is shown as the nearest one within", "shown", at.String())
	}
	return at
}

var told atomic.Bool

// shown is the nearest time that has a text form.
func (t Time) shown() Time {
	switch {
	case t.Before(First):
		return First
	case t.After(Last):
		return Last
	}
	return t
}

// FromMicros is the instant us microseconds after the Unix epoch.
func FromMicros(us int64) Time { return At(time.UnixMicro(us)) }

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
	return t.shown().Format(Layout)
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
		*t = read(time.UnixMicro(v))
	case time.Time:
		*t = read(v)
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
	*t = Time{}
	switch {
	case v.InfinityModifier == pgtype.Infinity:
		*t = read(Latest.Time)
	case v.InfinityModifier == pgtype.NegativeInfinity:
		*t = read(Earliest.Time)
	case v.Valid:
		*t = read(v.Time)
	}
	return nil
}

// TimestamptzValue is what PostgreSQL stores; pgx calls it instead of Value.
func (t Time) TimestamptzValue() (pgtype.Timestamptz, error) {
	v := pgtype.Timestamptz{Time: t.Time, Valid: !t.IsZero()}
	switch {
	case t.Time.Before(firstFinite):
		v.InfinityModifier = pgtype.NegativeInfinity
	case !t.Before(Latest):
		v.InfinityModifier = pgtype.Infinity
	}
	return v, nil
}

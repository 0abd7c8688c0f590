package datum

import (
	"strconv"
	"strings"
	"time"

	"github.com/stint-run/stint/schema/coltype"
)

// Instant is the time in a field of the data. It is zero when there is none: the
// field is absent or null, or holds what sources write for no date (an empty text,
// 0, a date of the years 0 and 1 or the first instant of year 2, anything within a
// day of the Unix epoch). bad says that the field holds something else that is no
// time.
//
// A time is ISO 8601 with a T or a space, with seconds or without, with any
// fraction, with an offset or in UTC; or a date alone, its midnight in UTC; or a
// number, as such or as a text: seconds since the epoch below 1e12, else
// milliseconds. It lies in the years 2 to 9999.
func (d Datum) Instant(name string) (at coltype.Time, bad bool) {
	value := d.value(name)
	if len(value) == 0 || value[0] == 'n' {
		return at, false
	}
	text := string(value)
	if value[0] == '"' {
		b, _ := (&walker{src: value}).text()
		text = strings.TrimSpace(string(b))
	}
	if nothing(text) {
		return at, false
	}
	t, ok := instant(text)
	switch {
	case !ok || t.Before(coltype.First) || t.After(coltype.Last):
		return at, true
	case NoDate(t), t.Equal(coltype.First):
		return at, false
	}
	return t, false
}

// NoDate reports whether a time is within a day of the Unix epoch, where sources
// put what has none.
func NoDate(at coltype.Time) bool { return at.Time.Sub(time.Unix(0, 0)).Abs() <= 24*time.Hour }

// nothing reports whether a text stands for no date, though it may be no time.
func nothing(text string) bool {
	return text == "" || strings.HasPrefix(text, "0000-") || strings.HasPrefix(text, "0001-")
}

func instant(text string) (coltype.Time, bool) {
	if dated := len(text) > 4 && text[4] == '-'; !dated && numeric(text) {
		return epoch(parseNumber([]byte(text)))
	}
	return iso(text)
}

// numeric reports whether a text is a number as people write it: JSON's, or with a
// plus, zeros at its beginning, or nothing at one side of its point.
func numeric(text string) bool {
	text = unsigned(text)
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if power := unsigned(text[i+1:]); power == "" || !figures(power) {
			return false
		}
		text = text[:i]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	return len(whole)+len(fraction) > 0 && figures(whole) && figures(fraction)
}

// unsigned is text without the sign before it.
func unsigned(text string) string {
	if strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") {
		return text[1:]
	}
	return text
}

func figures(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// Digits before the point: no number with more than maxWhole is a time, and one
// with more than maxSeconds is in milliseconds.
const (
	maxSeconds = 12
	maxWhole   = 15
)

// epoch is the time of a number of seconds or milliseconds, cut to microseconds.
func epoch(n number) (coltype.Time, bool) {
	whole := int64(len(n.digits)) + n.exponent
	if n.far != "" && n.far[0] != '-' || whole > maxWhole {
		return coltype.Time{}, false
	}
	size := whole + 6 // digits of the microseconds
	if whole > maxSeconds {
		size = whole + 3
	}
	if n.far != "" || size <= 0 {
		return coltype.FromMicros(0), true
	}
	kept := n.digits[:min(size, int64(len(n.digits)))]
	us, err := strconv.ParseInt(string(kept)+strings.Repeat("0", int(size)-len(kept)), 10, 64)
	if n.negative {
		us = -us
		if len(kept) < len(n.digits) {
			us-- // times are cut downwards
		}
	}
	return coltype.FromMicros(us), err == nil
}

// layouts are the forms of ISO 8601 that are read. Each takes any fraction of seconds.
var layouts = []string{
	time.RFC3339, "2006-01-02", "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02T15:04Z0700",
}

// beforeOffset takes away a space before an offset, which git writes.
var beforeOffset = strings.NewReplacer(" +", "+", " -", "-")

func iso(text string) (coltype.Time, bool) {
	text = strings.ToUpper(text)
	if len(text) > 10 && text[10] == ' ' {
		text = text[:10] + "T" + beforeOffset.Replace(text[11:])
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return coltype.At(t), true
		}
	}
	return coltype.Time{}, false
}

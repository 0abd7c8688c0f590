package coltype

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

var instants = []string{
	"0002-01-01T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00.000000Z",
	"2026-03-04T05:06:07.890123Z", "9999-12-31T23:59:59.999999Z",
}

func parse(t *testing.T, text string) Time {
	t.Helper()
	var at Time
	if err := json.Unmarshal([]byte(`"`+text+`"`), &at); err != nil {
		t.Fatal(err)
	}
	return at
}

func TestTimeGoesThroughEveryFormUnchanged(t *testing.T) {
	for _, text := range instants {
		at := parse(t, text)
		if got := at.String(); got != text {
			t.Errorf("%s is written %s", text, got)
		}
		stored, err := at.Value()
		if err != nil {
			t.Fatal(err)
		}
		var lite, server, query Time
		if err := lite.Scan(stored); err != nil || !lite.Equal(at) {
			t.Errorf("%s through SQLite is %s, %v", text, lite, err)
		}
		v, err := at.TimestamptzValue()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.ScanTimestamptz(v); err != nil || !server.Equal(at) {
			t.Errorf("%s through PostgreSQL is %s, %v", text, server, err)
		}
		if err := query.UnmarshalText([]byte(text)); err != nil || !query.Equal(at) {
			t.Errorf("%s as a parameter is %s, %v", text, query, err)
		}
	}
}

func TestTimesAreUTCAndWholeMicroseconds(t *testing.T) {
	at := parse(t, "2026-01-15T23:00:00.1234567+05:30")
	if got := at.String(); got != "2026-01-15T17:30:00.123456Z" {
		t.Errorf("got %s", got)
	}
	if at != At(at.Time) || at.Location() != time.UTC {
		t.Errorf("%v is not normal", at)
	}
}

func TestTheZeroTimeIsNull(t *testing.T) {
	var zero Time
	v, _ := zero.Value()
	ts, _ := zero.TimestamptzValue()
	text, _ := json.Marshal(zero)
	if v != nil || ts.Valid || string(text) != "null" {
		t.Errorf("zero is %v, %v, %s", v, ts, text)
	}
	at := parse(t, instants[3])
	if err := at.Scan(nil); err != nil || !at.IsZero() {
		t.Errorf("NULL from SQLite is %v, %v", at, err)
	}
	at = parse(t, instants[3])
	if err := at.ScanTimestamptz(pgtype.Timestamptz{}); err != nil || !at.IsZero() {
		t.Errorf("NULL from PostgreSQL is %v, %v", at, err)
	}
}

func TestWhatIsNoInstantIsRefused(t *testing.T) {
	var at Time
	if err := at.Scan("2026-01-01"); err == nil {
		t.Error("text was taken for a time")
	}
}

// A row whose time nobody should have written is read like any other, is found
// again by that time, and has a text form.
func TestTimeOutOfBoundsIsKeptAndShownAsTheBound(t *testing.T) {
	now := parse(t, instants[3])
	infinite := func(m pgtype.InfinityModifier) pgtype.Timestamptz {
		return pgtype.Timestamptz{Valid: true, InfinityModifier: m}
	}
	finite := func(year int) pgtype.Timestamptz {
		return pgtype.Timestamptz{Valid: true, Time: time.Date(year, 2, 3, 4, 5, 6, 7000, time.UTC)}
	}
	for _, stored := range []any{
		infinite(pgtype.Infinity), infinite(pgtype.NegativeInfinity), finite(10000), finite(294246), finite(-4712), finite(1),
		int64(math.MaxInt64), int64(math.MinInt64), int64(253402300800000000), int64(-62104060800000001),
	} {
		var at Time
		var err error
		var again any
		if v, postgres := stored.(pgtype.Timestamptz); postgres {
			err = at.ScanTimestamptz(v)
			back, _ := at.TimestamptzValue()
			if back.InfinityModifier != pgtype.Finite {
				back.Time = time.Time{}
			}
			again = back
		} else {
			err = at.Scan(stored)
			again, _ = at.Value()
		}
		want := Last
		if at.Before(now) {
			want = First
		}
		text, _ := json.Marshal(at)
		if err != nil || again != stored || string(text) != `"`+want.String()+`"` {
			t.Errorf("%v is read as %s, %v, and written back as %v; want %s", stored, text, err, again, want)
		}
		for _, moved := range []Time{at.Add(time.Hour), at.Add(-time.Hour)} {
			if moved.Before(now) != at.Before(now) {
				t.Errorf("%v moved by an hour is on the other side of now", stored)
			}
		}
	}
}

func TestTimeOutOfBoundsIsToldOnce(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	told.Store(false)
	for range 3 {
		var at Time
		if err := at.Scan(int64(math.MaxInt64)); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(log.String(), "outside the years 2 to 9999"); n != 1 {
		t.Errorf("told %d times: %s", n, &log)
	}
}

func TestJSONKeepsItsText(t *testing.T) {
	for _, text := range []string{`null`, `{"b":1,"a":9007199254740993,"a":-0}`, `1e400`, `"ü"`} {
		v, err := JSON(text).Value()
		if err != nil || v != text {
			t.Errorf("%s is stored as %v, %v", text, v, err)
		}
		for _, src := range []any{text, []byte(text)} {
			var j JSON
			if err := j.Scan(src); err != nil || string(j) != text {
				t.Errorf("%s is read as %s, %v", text, j, err)
			}
		}
	}
}

func TestAbsentJSONIsNullAndNullIsAValue(t *testing.T) {
	var j JSON
	if v, _ := j.Value(); v != nil {
		t.Errorf("absent is stored as %v", v)
	}
	if text, _ := json.Marshal(j); string(text) != "null" {
		t.Errorf("absent is written %s", text)
	}
	if err := json.Unmarshal([]byte("null"), &j); err != nil || j == nil {
		t.Errorf("null is read as absent: %v", err)
	}
	if err := j.Scan(nil); err != nil || j != nil {
		t.Errorf("NULL is read as %s, %v", j, err)
	}
	if err := j.Scan(1); err == nil {
		t.Error("a number was taken for text")
	}
}

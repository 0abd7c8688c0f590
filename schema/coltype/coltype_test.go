package coltype

import (
	"encoding/json"
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
	if err := at.ScanTimestamptz(pgtype.Timestamptz{Valid: true, InfinityModifier: pgtype.Infinity}); err == nil {
		t.Error("infinity was taken for a time")
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

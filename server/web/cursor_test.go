package web

import (
	"encoding/base64"
	"math"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/keyset"
)

// orders are all there are; each has a layout of its own or shares one.
var orders = []Order{Newest, Oldest, ByName, NewestInSnapshot, OldestInSnapshot}

// placed is a place that an order can hold, made of any values.
func placed(o Order, p Place) Place {
	switch o.layout {
	case nameAlone:
		return Place{Position: keyset.Position{ID: p.ID}}
	case timeAndID:
		p.Snapshot = Snapshot{}
	}
	return p
}

func boundTo(o Order) bind {
	return bind{Kind: "jobs", Owner: "own_1", Route: "/v1/jobs", Filter: "state=pending", Order: o}
}

var somewhere = Place{
	Position: keyset.Position{At: keyset.Top().At, ID: "job_1"},
	Snapshot: Snapshot{Seq: math.MaxInt64 - 7, At: coltype.FromMicros(1_796_042_096_789_012), Epoch: 3},
}

// Every bit of a cursor counts, and no two texts mean one cursor.
func TestNoBitOfACursorCanBeChanged(t *testing.T) {
	t.Parallel()
	c := newCursors([]byte("0123456789abcdef"))
	for _, order := range orders {
		t.Run(order.name, func(t *testing.T) {
			of, place := boundTo(order), placed(order, somewhere)
			valid := c.encode(place, of)
			if got, err := c.decode(valid, of); err != nil || got != place {
				t.Fatalf("%+v, %v; want %+v", got, err, place)
			}
			raw, err := base64.RawURLEncoding.DecodeString(valid)
			if err != nil {
				t.Fatal(err)
			}
			for i := range len(raw) * 8 {
				changed := append([]byte{}, raw...)
				changed[i/8] ^= 1 << (i % 8)
				if _, err := c.decode(base64.RawURLEncoding.EncodeToString(changed), of); err == nil {
					t.Errorf("bit %d can be changed", i)
				}
			}
			if _, err := newCursors([]byte("another key of 16")).decode(valid, of); err == nil {
				t.Error("the key does not matter")
			}
		})
	}
}

func TestACursorIsBoundToItsListAndOrder(t *testing.T) {
	t.Parallel()
	c := newCursors([]byte("0123456789abcdef"))
	for _, order := range orders {
		of := boundTo(order)
		valid := c.encode(placed(order, somewhere), of)
		for name, change := range map[string]func(b *bind){
			"kind": func(b *bind) { b.Kind = "runs" }, "owner": func(b *bind) { b.Owner = "own_2" },
			"route": func(b *bind) { b.Route = "/v1/runs" }, "filter": func(b *bind) { b.Filter = "" },
			"border": func(b *bind) { b.Kind, b.Owner = "jobsown_1", "" },
		} {
			other := of
			change(&other)
			if _, err := c.decode(valid, other); err == nil {
				t.Errorf("%s: the %s is not bound", order.name, name)
			}
		}
		for _, other := range orders {
			if _, err := c.decode(valid, boundTo(other)); (err == nil) != (other == order) {
				t.Errorf("a cursor of %s under %s: %v", order.name, other.name, err)
			}
		}
	}
}

// A list that an older build serves keeps its cursors byte for byte: a walk goes
// on at whichever replica of a rolling upgrade answers. The file was written by
// the build before lists were declared; server reads it too.
func TestCursorsOfVersionOneStayAsTheyAre(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/cursors.txt")
	if err != nil {
		t.Fatal(err)
	}
	c := newCursors([]byte("0123456789abcdef0123456789abcdef"))
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		target, err := url.Parse(f[2])
		if err != nil {
			t.Fatal(err)
		}
		at, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		s := &request{path: target.Path, query: target.RawQuery}
		s.principal.OwnerID = "own_0193812f-0000"
		of := s.bind(f[0], map[string]Order{"newest": Newest, "oldest": Oldest}[f[1]])
		place := Place{Position: keyset.Position{At: coltype.FromMicros(at), ID: f[4]}}
		if got := c.encode(place, of); got != f[5] {
			t.Errorf("%s: the cursor is %s, was %s", f[0], got, f[5])
		}
		if got, err := c.decode(f[5], of); err != nil || got != place {
			t.Errorf("%s: the cursor means %+v, %v", f[0], got, err)
		}
	}
}

func TestShortCursorKeyPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a cursor key of 8 bytes is taken")
		}
	}()
	newCursors([]byte("12345678"))
}

// FuzzCursor feeds any text to the decoder: it refuses what it did not make.
func FuzzCursor(f *testing.F) {
	c := newCursors([]byte("0123456789abcdef"))
	for _, order := range orders {
		valid := c.encode(placed(order, somewhere), boundTo(order))
		for _, seed := range []string{"", "AAAA", "e30", valid, valid + "=", valid + "\n", valid[1:], strings.Repeat("A", 2000)} {
			f.Add(seed)
		}
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		for _, order := range orders {
			place, err := c.decode(cursor, boundTo(order))
			if err == nil && c.encode(place, boundTo(order)) != cursor {
				t.Fatalf("%s: %q is taken for %+v", order.name, cursor, place)
			}
		}
	})
}

// FuzzPlace writes any place and reads it back.
func FuzzPlace(f *testing.F) {
	c := newCursors([]byte("0123456789abcdef"))
	f.Add(int64(0), int64(0), int64(0), int64(0), "a")
	f.Add(int64(math.MaxInt64), int64(-62_135_596_800_000_000), int64(-1), int64(math.MinInt32), strings.Repeat("é", 127))
	f.Fuzz(func(t *testing.T, seq, snapshotAt, epoch, at int64, id string) {
		if len(id) == 0 || len(id) > maxID {
			return
		}
		for _, order := range orders {
			place := placed(order, Place{
				Position: keyset.Position{At: coltype.FromMicros(at), ID: id},
				Snapshot: Snapshot{Seq: seq, At: coltype.FromMicros(snapshotAt), Epoch: epoch},
			})
			if got, err := c.decode(c.encode(place, boundTo(order)), boundTo(order)); err != nil || got != place {
				t.Fatalf("%s: %+v became %+v, %v", order.name, place, got, err)
			}
		}
	})
}

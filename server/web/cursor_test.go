package web

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/keyset"
)

// Every bit of a cursor counts, and no two texts mean one cursor.
func TestNoBitOfACursorCanBeChanged(t *testing.T) {
	t.Parallel()
	c := newCursors([]byte("0123456789abcdef"))
	of := bind{Kind: "jobs", Owner: "own_1", Route: "/v1/jobs", Filter: "state=pending", Order: Newest}
	pos := Position{At: keyset.Top().At, ID: "job_1"}
	valid := c.encode(pos, of)
	if got, err := c.decode(valid, of); err != nil || got != pos {
		t.Fatalf("%v, %v", got, err)
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
	binds := map[string]bind{}
	for name, change := range map[string]func(b *bind){
		"kind": func(b *bind) { b.Kind = "runs" }, "owner": func(b *bind) { b.Owner = "own_2" },
		"route": func(b *bind) { b.Route = "/v1/runs" }, "filter": func(b *bind) { b.Filter = "" },
		"order": func(b *bind) { b.Order = Oldest }, "border": func(b *bind) { b.Kind, b.Owner = "jobsown_1", "" },
	} {
		other := of
		change(&other)
		binds[name] = other
	}
	for name, other := range binds {
		if _, err := c.decode(valid, other); err == nil {
			t.Errorf("the %s is not bound", name)
		}
	}
	if _, err := newCursors([]byte("another key of 16")).decode(valid, of); err == nil {
		t.Error("the key does not matter")
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
	of := bind{Kind: "jobs", Owner: "own_1", Route: "/v1/jobs", Order: Newest}
	valid := c.encode(keyset.Top(), of)
	for _, seed := range []string{"", "AAAA", "e30", valid, valid + "=", valid + "\n", valid[1:], strings.Repeat("A", 2000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		pos, err := c.decode(cursor, of)
		if err == nil && c.encode(pos, of) != cursor {
			t.Fatalf("%q is taken for %v", cursor, pos)
		}
	})
}

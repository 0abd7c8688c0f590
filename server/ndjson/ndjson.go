// Package ndjson splits a stream of JSON values into its parts, without looking at
// what they mean: the lines of newline-delimited JSON, or the elements of one JSON
// array. It holds no more than one part of bounded size.
package ndjson

import "fmt"

// Item is one part of a body.
type Item struct {
	Index int64  // of the line or element, from 0; a blank line counts
	Raw   []byte // the caller's own; nil: longer than the bound, and not held
	Size  int64  // of the part in bytes, also of one that was not held
}

// Items gives the parts of a body in their order, and then io.EOF. Any other error
// is final: that of the reader, or a Broken.
type Items interface {
	Next() (Item, error)
}

// Broken is a body that is no array, or whose array ends too early: what cannot be
// split.
type Broken struct {
	Element int64 // that was expected or being read
	Byte    int64 // of the body, from 0
	What    string
}

func (b *Broken) Error() string {
	return fmt.Sprintf("%s, in element %d at byte %d", b.What, b.Element, b.Byte)
}

// readSize is the size of the piece in which a body is looked at.
const readSize = 64 << 10

// held is a part of which at most bound bytes are kept.
type held struct {
	bytes []byte
	bound int
	size  int64
}

func (h *held) add(piece []byte) {
	h.size += int64(len(piece))
	room := h.bound - len(h.bytes)
	h.bytes = append(h.bytes, piece[:min(room, len(piece))]...)
}

// item is the first n bytes as a part; Raw is nil for one longer than limit.
func (h *held) item(index, n, limit int64) Item {
	it := Item{Index: index, Size: n}
	if n <= limit {
		it.Raw = append(make([]byte, 0, n), h.bytes[:n]...)
	}
	return it
}

// reset forgets the part, but keeps the room for the next one.
func (h *held) reset() { h.bytes, h.size = h.bytes[:0], 0 }

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

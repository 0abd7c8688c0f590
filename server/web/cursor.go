package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/stint-run/stint/server/fault"
)

// bind is what a cursor belongs to. A cursor is valid under an equal bind only.
type bind struct {
	Kind   string // of the list, such as "jobs"
	Owner  string
	Route  string // path of the request
	Filter string // every parameter but limit and cursor, in a fixed order
	Order  Order
}

// cursors makes and reads cursors.
type cursors struct{ key []byte }

// newCursors uses key, which the replicas of a database share. It panics on a
// key shorter than 16 bytes.
func newCursors(key []byte) cursors {
	if len(key) < 16 {
		panic("web: the cursor key is shorter than 16 bytes")
	}
	return cursors{key: key}
}

// A cursor is URL-safe base64, without padding, of
//
//	version   1 byte
//	mac      16 bytes of HMAC-SHA256 over version, bind and place
//	place    the rest, laid out as the order of the list says (order.go)
//
// The bind is not in it: it is known from the request that brings the cursor.
// The order is a part of the bind, so that a list reads only its own layout.
const (
	macSize   = 16
	maxCursor = 1024 // characters
	maxID     = 255
)

// encode is the cursor of a place.
func (c cursors) encode(p Place, of bind) string {
	place := of.Order.layout.put(p)
	raw := append([]byte{of.Order.layout.version}, c.mac(place, of)...)
	return base64.RawURLEncoding.EncodeToString(append(raw, place...))
}

// decode is the place of a cursor that encode made under the same bind;
// anything else is the fault invalid_cursor.
func (c cursors) decode(cursor string, of bind) (Place, error) {
	if len(cursor) > maxCursor || strings.ContainsAny(cursor, "\r\n") { // base64 would skip line ends
		return Place{}, fault.InvalidCursor()
	}
	l := of.Order.layout
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	head := 1 + macSize + l.fixed
	if err != nil || len(raw) <= head || len(raw) > head+maxID || raw[0] != l.version {
		return Place{}, fault.InvalidCursor()
	}
	place := raw[1+macSize:]
	if !hmac.Equal(raw[1:1+macSize], c.mac(place, of)) {
		return Place{}, fault.InvalidCursor()
	}
	return l.take(place), nil
}

// mac authenticates version, bind and place; each part goes in with its length.
func (c cursors) mac(place []byte, of bind) []byte {
	h := hmac.New(sha256.New, c.key)
	h.Write([]byte{of.Order.layout.version})
	filter := sha256.Sum256([]byte(of.Filter))
	for _, part := range [][]byte{
		[]byte(of.Kind), []byte(of.Owner), []byte(of.Route), filter[:], []byte(of.Order.name), place,
	} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write(part)
	}
	return h.Sum(nil)[:macSize]
}

package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
)

// Position is a row's place in a list ordered by (time, id).
type Position = keyset.Position

// bind is what a cursor belongs to. A cursor is valid under an equal bind only.
type bind struct {
	Kind   string // of the list, such as "jobs"
	Owner  string
	Route  string // path of the request
	Filter string // every parameter but limit and cursor, in a fixed order
	Order  string
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
//	version   1 byte, 1
//	mac      16 bytes of HMAC-SHA256 over version, bind and position
//	at        8 bytes, microseconds since the Unix epoch, big endian
//	id        the rest
//
// The bind is not in it: it is known from the request that brings the cursor.
const (
	cursorVersion = 1
	macSize       = 16
	cursorHead    = 1 + macSize + 8
	maxCursor     = 1024 // characters
	maxID         = 255
)

// encode is the cursor of a position.
func (c cursors) encode(pos Position, of bind) string {
	place := binary.BigEndian.AppendUint64(nil, uint64(pos.At.UnixMicro()))
	place = append(place, pos.ID...)
	raw := append([]byte{cursorVersion}, c.mac(place, of)...)
	return base64.RawURLEncoding.EncodeToString(append(raw, place...))
}

// decode is the position of a cursor that encode made under the same bind;
// anything else is the fault invalid_cursor.
func (c cursors) decode(cursor string, of bind) (Position, error) {
	if len(cursor) > maxCursor || strings.ContainsAny(cursor, "\r\n") { // base64 would skip line ends
		return Position{}, fault.InvalidCursor()
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) <= cursorHead || len(raw) > cursorHead+maxID || raw[0] != cursorVersion {
		return Position{}, fault.InvalidCursor()
	}
	place := raw[1+macSize:]
	if !hmac.Equal(raw[1:1+macSize], c.mac(place, of)) {
		return Position{}, fault.InvalidCursor()
	}
	at := coltype.FromMicros(int64(binary.BigEndian.Uint64(place)))
	return Position{At: at, ID: string(place[8:])}, nil
}

// mac authenticates version, bind and place; each part goes in with its length.
func (c cursors) mac(place []byte, of bind) []byte {
	h := hmac.New(sha256.New, c.key)
	h.Write([]byte{cursorVersion})
	filter := sha256.Sum256([]byte(of.Filter))
	for _, part := range [][]byte{
		[]byte(of.Kind), []byte(of.Owner), []byte(of.Route), filter[:], []byte(of.Order), place,
	} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write(part)
	}
	return h.Sum(nil)[:macSize]
}

package web

import (
	"encoding/binary"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/keyset"
)

// Snapshot is the instant at which every page of a walk sees a list.
type Snapshot struct {
	Seq   int64        // members are the versions up to this number of the owner
	At    coltype.Time // the instant that people are told
	Epoch int64        // of the numbers; a restore or an import begins another
}

// Place is where a page begins: behind Position, within Snapshot if the order
// has one.
type Place struct {
	keyset.Position
	Snapshot
}

// Order is how a list is sorted, which decides where it begins and what its
// cursors hold.
type Order struct {
	name   string // what cursors are bound to
	start  keyset.Position
	layout *layout
}

// The orders of version 1, which every build of a rolling upgrade reads. A list
// that has one keeps it. A list by name has Oldest, with the name as the id.
var (
	Newest = Order{name: "newest", start: keyset.Top(), layout: timeAndID}
	Oldest = Order{name: "oldest", start: keyset.Bottom(), layout: timeAndID}
)

// The orders of version 2, for lists that no older build serves.
var (
	ByName           = Order{name: "name", layout: nameAlone}
	NewestInSnapshot = Order{name: "newest in snapshot", start: keyset.Top(), layout: inSnapshot}
	OldestInSnapshot = Order{name: "oldest in snapshot", start: keyset.Bottom(), layout: inSnapshot}
)

// layout is how the place of a cursor is written: members of fixed sizes, then
// an id or a name of 1 to maxID bytes. Numbers are big endian; a time is in
// microseconds since the Unix epoch.
type layout struct {
	version byte
	fixed   int // bytes before the id
	put     func(Place) []byte
	take    func([]byte) Place
}

// timeAndID, version 1:
//
//	at    8 bytes, the time of the last row
//	id    the rest, its id, or its name in a list by name
var timeAndID = &layout{
	version: 1, fixed: 8,
	put: func(p Place) []byte { return append(micros(nil, p.Position.At), p.ID...) },
	take: func(b []byte) Place {
		return Place{Position: keyset.Position{At: timeAt(b, 0), ID: string(b[8:])}}
	},
}

// nameAlone, version 2:
//
//	name  all of it, the name of the last row
var nameAlone = &layout{
	version: 2,
	put:     func(p Place) []byte { return []byte(p.ID) },
	take:    func(b []byte) Place { return Place{Position: keyset.Position{ID: string(b)}} },
}

// inSnapshot, version 2:
//
//	seq          8 bytes, the snapshot's number
//	snapshot_at  8 bytes, its instant
//	epoch        8 bytes, the epoch of its number
//	sort_at      8 bytes, the time of the last row
//	id           the rest, the id of the last row
var inSnapshot = &layout{
	version: 2, fixed: 32,
	put: func(p Place) []byte {
		b := binary.BigEndian.AppendUint64(nil, uint64(p.Seq))
		b = micros(b, p.Snapshot.At)
		b = binary.BigEndian.AppendUint64(b, uint64(p.Epoch))
		return append(micros(b, p.Position.At), p.ID...)
	},
	take: func(b []byte) Place {
		return Place{
			Snapshot: Snapshot{Seq: int64(binary.BigEndian.Uint64(b)), At: timeAt(b, 8), Epoch: int64(binary.BigEndian.Uint64(b[16:]))},
			Position: keyset.Position{At: timeAt(b, 24), ID: string(b[32:])},
		}
	},
}

func micros(b []byte, at coltype.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(at.UnixMicro()))
}

func timeAt(b []byte, from int) coltype.Time {
	return coltype.FromMicros(int64(binary.BigEndian.Uint64(b[from:])))
}

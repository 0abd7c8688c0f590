package web

import (
	"context"
	"encoding/binary"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
)

// Since is how far a reader of changes is.
type Since struct {
	Version int64 // the last one that it has
	Epoch   int64 // of the numbers
	Floor   int64 // the deletions up to this version were no concern of its: it began later
}

// inChanges is the place of a reader of changes. It is in no list.
//
//	version  8 bytes
//	epoch    8 bytes
//	floor    8 bytes
var inChanges = Order{name: "changes", layout: &layout{
	version: 2, fixed: 16,
	put: func(p Place) []byte {
		b := binary.BigEndian.AppendUint64(nil, uint64(p.Seq))
		return append(binary.BigEndian.AppendUint64(b, uint64(p.Epoch)), p.ID...)
	},
	take: func(b []byte) Place {
		return Place{
			Snapshot: Snapshot{Seq: int64(binary.BigEndian.Uint64(b)), Epoch: int64(binary.BigEndian.Uint64(b[8:]))},
			Position: keyset.Position{At: coltype.Earliest, ID: string(b[16:])},
		}
	},
}}

// sinceBind is what a Since belongs to: it is read again under an equal one only.
func sinceBind(ctx context.Context, connectionID, stream string) bind {
	return bind{Kind: "changes", Owner: Caller(ctx).OwnerID, Route: connectionID, Filter: stream, Order: inChanges}
}

// SealSince is s as the caller keeps it for the changes of a stream of a
// connection, authenticated.
func (a *API) SealSince(ctx context.Context, connectionID, stream string, s Since) string {
	floor := binary.BigEndian.AppendUint64(nil, uint64(s.Floor))
	return a.cursors.encode(Place{
		Position: keyset.Position{ID: string(floor)}, Snapshot: Snapshot{Seq: s.Version, Epoch: s.Epoch},
	}, sinceBind(ctx, connectionID, stream))
}

// OpenSince is what SealSince was given. Anything else is invalid_cursor, which
// names the parameter since.
func (a *API) OpenSince(ctx context.Context, connectionID, stream, sealed string) (Since, error) {
	place, err := a.cursors.decode(sealed, sinceBind(ctx, connectionID, stream))
	if err != nil {
		return Since{}, fault.InvalidSince()
	}
	return Since{Version: place.Seq, Epoch: place.Epoch, Floor: int64(binary.BigEndian.Uint64([]byte(place.ID)))}, nil
}

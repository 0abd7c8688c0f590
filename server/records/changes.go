package records

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// ChangesIn asks for what changed of a stream of a connection.
type ChangesIn struct {
	OwnerID, ConnectionID, Stream string
	Since                         *web.Since // nil: from the beginning
	Limit                         int
}

// Changed is a page of changes.
type Changed struct {
	Rows []model.RecordChangesRow
	More bool
	Next web.Since
}

// A page of changes is read in pieces, up to so many bytes of data: a record may
// have a megabyte.
const (
	changesPiece = 16
	changesBytes = 4 << 20
)

// Changes are the records of a stream that changed behind a version, in their latest
// version, in the order of versions; the deleted ones too. A version is committed
// after all before it, so that a reader who goes on from Next misses none. What
// cannot be told from there on is cursor_expired.
func Changes(ctx context.Context, q model.Reader, in ChangesIn) (Changed, error) {
	p, epoch, err := standing(ctx, q, in)
	if err != nil {
		return Changed{}, err
	}
	from, follows := web.Since{Epoch: epoch, Floor: p.FloorVersion}, in.Since != nil && in.Since.Version > 0
	if follows {
		if from, err = *in.Since, expired(*in.Since, p, epoch); err != nil {
			return Changed{}, err
		}
	}
	if p.Version == 0 { // also if the first change comes at this moment
		return Changed{}, declared(ctx, q, in)
	}
	out, err := changesFrom(ctx, q, in, from)
	if err != nil {
		return Changed{}, err
	}
	if !out.More {
		out.Next.Version = max(out.Next.Version, p.Version) // a deletion that was swept may have been the last
	}
	if follows { // again: deletions that a sweep took meanwhile are not among the rows
		if p, epoch, err = standing(ctx, q, in); err == nil {
			err = expired(from, p, epoch)
		}
	}
	return out, err
}

// changesFrom reads a page of changes.
func changesFrom(ctx context.Context, q model.Reader, in ChangesIn, from web.Since) (Changed, error) {
	out, size := Changed{Next: from}, 0
	for {
		rows, err := q.RecordChanges(ctx, model.RecordChangesParams{
			OwnerID: in.OwnerID, ConnectionID: in.ConnectionID, Stream: in.Stream, Since: out.Next.Version, Max: changesPiece,
		})
		if err != nil {
			return out, fmt.Errorf("read the changes of %s: %w", in.ConnectionID, err)
		}
		for _, r := range rows {
			if len(out.Rows) == in.Limit || size >= changesBytes {
				out.More = true
				return out, nil
			}
			out.Rows, out.Next.Version, size = append(out.Rows, r), r.Version, size+len(r.Data)
		}
		if len(rows) < changesPiece {
			return out, nil
		}
	}
}

// declared is the fault not_found for a stream that the connection's connector does
// not have: whoever misspells a name need not wait for its changes.
func declared(ctx context.Context, q model.Reader, in ChangesIn) error {
	c, err := sources.Resolve(ctx, q, in.OwnerID, in.ConnectionID)
	if err != nil {
		return err
	}
	streams, err := sources.Streams(ctx, q, in.OwnerID, c.ConnectorID)
	if _, ok := streams[in.Stream]; err == nil && !ok {
		err = fault.NotFound()
	}
	return err
}

// standing is the partition before its rows are read, and the epoch of its numbers:
// zero for a stream that has brought nothing.
func standing(ctx context.Context, q model.Reader, in ChangesIn) (p model.Partition, epoch int64, err error) {
	p, err = q.PartitionGet(ctx, model.PartitionGetParams{OwnerID: in.OwnerID, ConnectionID: in.ConnectionID, Stream: in.Stream})
	if err != nil && !store.NotFound(err) {
		return p, 0, fmt.Errorf("read partition %s of %s: %w", in.Stream, in.ConnectionID, err)
	}
	// Behind it: whoever made the first change made the numbers with it.
	seq, err := q.OwnerSeqGet(ctx, model.OwnerSeqGetParams{OwnerID: in.OwnerID})
	if err != nil && !store.NotFound(err) {
		return p, 0, fmt.Errorf("read the epoch of %s: %w", in.OwnerID, err)
	}
	return p, seq.Epoch, nil
}

// expired is the fault of a since that the partition cannot go on from. One below
// its floor can if its reader began when the floor was there: it has never seen what
// was swept.
func expired(since web.Since, p model.Partition, epoch int64) error {
	switch {
	case since.Epoch != epoch:
		return fault.CursorExpired("The database was restored, and its changes have other numbers.")
	case since.Version > p.Version:
		return fault.CursorExpired("The stream has no change of that number.")
	case since.Version < p.FloorVersion && since.Floor < p.FloorVersion:
		return fault.CursorExpired("Deletions since then were swept.")
	}
	return nil
}

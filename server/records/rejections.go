package records

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// Of names a connection of an owner.
type Of struct{ OwnerID, ConnectionID string }

// Rejections are the refused lines of a connection that are kept, the newest first,
// without their bytes.
var Rejections = keyset.Plain("refused lines",
	func(r model.RejectionPageRow) keyset.Position { return keyset.Position{At: r.CreatedAt, ID: r.ID} },
	func(in Of, from keyset.Position, max int64) model.RejectionPageParams {
		return model.RejectionPageParams{OwnerID: in.OwnerID, ConnectionID: in.ConnectionID, BeforeAt: from.At, BeforeID: from.ID, Max: max}
	}, model.Reader.RejectionPage)

// Rejection is one refused line of a connection, with its bytes.
func Rejection(ctx context.Context, q model.Reader, of Of, rejectionID string) (model.RecordRejection, error) {
	row, err := q.RejectionGet(ctx, model.RejectionGetParams{ID: rejectionID, ConnectionID: of.ConnectionID, OwnerID: of.OwnerID})
	if store.NotFound(err) {
		return row, fault.NotFound()
	}
	if err != nil {
		return row, fmt.Errorf("get %s: %w", rejectionID, err)
	}
	return row, nil
}

// Discard discards one refused line of a connection, or, with an empty id, all of
// them, and returns how many. The quarantine has their room again. As whoever writes
// lines, it holds the connection before the owner's counts: the heads count too.
func Discard(ctx context.Context, q model.Querier, now coltype.Time, of Of, rejectionID string) (int64, error) {
	if _, err := sources.Lock(ctx, q, of.OwnerID, of.ConnectionID); err != nil {
		return 0, err
	}
	if _, err := takeSeq(ctx, q, of.OwnerID, 0); err != nil {
		return 0, err
	}
	var sizes []int64
	var err error
	if rejectionID == "" {
		sizes, err = q.RejectionDiscard(ctx, model.RejectionDiscardParams{ConnectionID: of.ConnectionID, OwnerID: of.OwnerID})
	} else {
		sizes, err = q.RejectionDelete(ctx, model.RejectionDeleteParams{ID: rejectionID, ConnectionID: of.ConnectionID, OwnerID: of.OwnerID})
	}
	if err != nil {
		return 0, fmt.Errorf("discard refused lines of %s: %w", of.ConnectionID, err)
	}
	if len(sizes) == 0 {
		return 0, nil
	}
	if err := giveBack(ctx, q, of.OwnerID, sizes); err != nil {
		return 0, err
	}
	n := int64(len(sizes))
	return n, sources.CountRejected(ctx, q, now, of.OwnerID, of.ConnectionID, -n)
}

// giveBack takes lines of those sizes out of what is counted of the owner, whose
// numbers the transaction holds.
func giveBack(ctx context.Context, q model.Querier, ownerID string, sizes []int64) error {
	arg := model.OwnerSeqCountRejectedParams{OwnerID: ownerID, Added: -int64(len(sizes))}
	for _, size := range sizes {
		arg.AddedBytes -= size
	}
	if _, err := q.OwnerSeqCountRejected(ctx, arg); err != nil {
		return fmt.Errorf("count the refused lines of %s: %w", ownerID, err)
	}
	return nil
}

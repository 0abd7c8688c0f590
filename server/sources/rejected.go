package sources

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// RejectedCount is how many lines of a connection the quarantine holds.
func RejectedCount(ctx context.Context, q model.Reader, ownerID, connectionID string) (int64, error) {
	row, err := q.HeadGet(ctx, model.HeadGetParams{ConnectionID: connectionID, OwnerID: ownerID})
	return row.RejectedCount, found(connectionID, err)
}

// CountRejected counts n lines more, or, below 0, fewer.
func CountRejected(ctx context.Context, q model.Querier, now coltype.Time, ownerID, connectionID string, n int64) error {
	_, err := q.HeadCountRejected(ctx, model.HeadCountRejectedParams{Added: n, Now: now, ConnectionID: connectionID, OwnerID: ownerID})
	if err != nil {
		return fmt.Errorf("count refused lines of %s: %w", connectionID, err)
	}
	return nil
}

// RecountRejected is how many lines the heads of a connection count, and how many the
// quarantine keeps, at one moment.
func RecountRejected(ctx context.Context, q model.Reader, ownerID, connectionID string) (counted, kept int64, err error) {
	row, err := q.HeadRecount(ctx, model.HeadRecountParams{ConnectionID: connectionID, OwnerID: ownerID})
	return row.RejectedCount, row.KeptLines, found(connectionID, err)
}

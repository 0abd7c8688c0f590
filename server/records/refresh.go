package records

import (
	"context"
	"errors"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

// RemoveUnseen deletes, of all owners, the records that a full refresh which
// succeeded did not see, batch by batch, and returns how many. What is written
// meanwhile counts as seen. A pass that was killed goes on behind the last key that
// it looked at; a partition that fails keeps no other one waiting.
func RemoveUnseen(ctx context.Context, s *store.Store) (n int, err error) {
	var bad error
	for at := (partitionKey{}); ; {
		removed, next, err := removeBatch(ctx, s, at)
		n += removed
		switch {
		case err == nil && next == nil:
			return n, bad
		case err == nil && next.again:
			continue
		case next == nil:
			return n, errors.Join(bad, err)
		}
		bad, at = errors.Join(bad, err), next.partitionKey
	}
}

// visited is the partition that a batch was of.
type visited struct {
	partitionKey
	again bool // it has more
}

// removeBatch is one transaction: it looks at the next keys of the first partition
// behind the one given. The partition is nil if there is none.
func removeBatch(ctx context.Context, s *store.Store, after partitionKey) (n int, at *visited, err error) {
	now, err := s.Time(ctx)
	if err != nil {
		return 0, nil, err
	}
	err = s.Tx(ctx, func(q model.Querier) error {
		n, at = 0, nil
		p, err := q.PartitionLockRemoving(ctx, model.PartitionLockRemovingParams{AfterConnectionID: after.ConnectionID, AfterStream: after.Stream})
		if store.NotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("find a partition to refresh: %w", err)
		}
		at = &visited{partitionKey: partitionKey{p.ConnectionID, p.Stream}}
		n, at.again, err = removeKeys(ctx, q, now, p)
		return err
	})
	return n, at, err
}

// removeKeys deletes what the refresh did not see among the next keys of a
// partition that is held, and reports whether there are further ones.
func removeKeys(ctx context.Context, q model.Querier, now coltype.Time, p model.Partition) (n int, more bool, err error) {
	rows, err := q.RecordListBehind(ctx, model.RecordListBehindParams{
		ConnectionID: p.ConnectionID, Stream: p.Stream, AfterKey: *p.RefreshKey, Max: passBatch,
	})
	if err != nil {
		return 0, false, fmt.Errorf("walk %s of %s: %w", p.Stream, p.ConnectionID, err)
	}
	var unseen []change
	for _, row := range rows {
		if row.DeletedAt.IsZero() && row.SeenGeneration < *p.RefreshGeneration {
			unseen = append(unseen, change{stream: p.Stream, key: row.Key, delete: true})
		}
	}
	if len(unseen) > 0 {
		if _, _, err := apply(ctx, q, now, holding(p.OwnerID, p.ConnectionID, []model.Partition{p}), unseen); err != nil {
			return 0, false, err
		}
	}
	if len(rows) < passBatch {
		_, err = q.PartitionEndRemoval(ctx, model.PartitionEndRemovalParams{ConnectionID: p.ConnectionID, Stream: p.Stream, Now: now})
	} else {
		_, err = q.PartitionSetRefreshKey(ctx, model.PartitionSetRefreshKeyParams{ConnectionID: p.ConnectionID, Stream: p.Stream, RefreshKey: &rows[passBatch-1].Key})
	}
	if err != nil {
		return 0, false, fmt.Errorf("note how far %s of %s is refreshed: %w", p.Stream, p.ConnectionID, err)
	}
	return len(unseen), len(rows) == passBatch, nil
}

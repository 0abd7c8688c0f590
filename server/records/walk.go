package records

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
)

// WalkPartitions reads the partitions of all owners behind one, by connection and
// stream.
func WalkPartitions(ctx context.Context, q model.Reader, after model.Partition, limit int) ([]model.Partition, error) {
	rows, err := q.PartitionWalk(ctx, model.PartitionWalkParams{
		AfterConnectionID: after.ConnectionID, AfterStream: after.Stream, Max: int64(limit),
	})
	if err != nil {
		return nil, fmt.Errorf("walk the partitions: %w", err)
	}
	return rows, nil
}

// WalkOwners reads the sequences of the owners behind one, by owner.
func WalkOwners(ctx context.Context, q model.Reader, afterID string, limit int) ([]model.OwnerSeq, error) {
	rows, err := q.OwnerSeqWalk(ctx, model.OwnerSeqWalkParams{AfterID: afterID, Max: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("walk the owners: %w", err)
	}
	return rows, nil
}

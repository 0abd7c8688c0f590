package records

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// NextWithRecords names the partition behind one that has records, whether it has
// a row or not; nil: it was the last.
func NextWithRecords(ctx context.Context, q model.Reader, after model.Partition) (*model.Partition, error) {
	row, err := q.RecordWalkPartition(ctx, model.RecordWalkPartitionParams{AfterConnectionID: after.ConnectionID, AfterStream: after.Stream})
	if store.NotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("walk the partitions of the records: %w", err)
	}
	return &model.Partition{OwnerID: row.OwnerID, ConnectionID: row.ConnectionID, Stream: row.Stream}, nil
}

// CheckPresent looks for the row of a partition that has records. With repair one that
// is missing is made anew. Deletions that were swept are not known any more, so readers
// of its changes begin again. What is being removed with its connection needs no row.
func CheckPresent(ctx context.Context, s *store.Store, p model.Partition, repair bool) (sources.Drifts, error) {
	_, err := s.PartitionGet(ctx, model.PartitionGetParams{ConnectionID: p.ConnectionID, Stream: p.Stream, OwnerID: p.OwnerID})
	if err == nil {
		return nil, nil
	}
	if store.NotFound(err) {
		_, err = sources.Resolve(ctx, s, p.OwnerID, p.ConnectionID)
	}
	if sources.Gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up the partition %s of %s: %w", p.Stream, p.ConnectionID, err)
	}
	if repair {
		err = makePartition(ctx, s, p)
	}
	return missingRow("partitions"), err
}

// makePartition makes the row of a partition from its records.
func makePartition(ctx context.Context, s *store.Store, p model.Partition) error {
	now, err := s.Time(ctx)
	if err != nil {
		return err
	}
	err = s.Tx(ctx, func(q model.Querier) error { return remakePartition(ctx, q, now, p) })
	if sources.Gone(err) {
		return nil
	}
	return err
}

func remakePartition(ctx context.Context, q model.Querier, now coltype.Time, p model.Partition) error {
	if _, err := sources.Lock(ctx, q, p.OwnerID, p.ConnectionID); err != nil {
		return err
	}
	to := Target{OwnerID: p.OwnerID, ConnectionID: p.ConnectionID}
	if err := insertPartitions(ctx, q, now, to, []string{p.Stream}); err != nil {
		return err
	}
	row, err := holdPartition(ctx, q, p)
	if row == nil || err != nil {
		return err
	}
	is, err := countBeside(ctx, q, *row)
	if err != nil {
		return err
	}
	if err := is.repair(ctx, q, is.Figures); err != nil {
		return err
	}
	_, err = q.PartitionRaiseFloor(ctx, model.PartitionRaiseFloorParams{ConnectionID: p.ConnectionID, Stream: p.Stream, FloorVersion: is.Figures.Version})
	return err
}

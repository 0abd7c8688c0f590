package records

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/store"
)

// Sweep removes, of all owners, what was kept for its time, and returns how many
// rows. Before a version is gone its owner's floor says so, and before a deletion is
// its partition's: a reader who would miss it is told to begin again.
func (t TTLs) Sweep(ctx context.Context, s *store.Store) (n int, err error) {
	for _, sweep := range []func(context.Context, model.Querier, coltype.Time) (int, error){t.sweepVersions, t.sweepDeleted, t.sweepBatches} {
		swept, bad := drain(ctx, s, sweep)
		n, err = n+swept, errors.Join(err, bad)
	}
	return n, err
}

// drain runs a pass in one transaction after the other until it does less than a
// batch.
func drain(ctx context.Context, s *store.Store, pass func(context.Context, model.Querier, coltype.Time) (int, error)) (n int, err error) {
	now, err := s.Time(ctx)
	for done := passBatch; err == nil && done >= passBatch; n += done {
		err = s.Tx(ctx, func(q model.Querier) (err error) {
			done, err = pass(ctx, q, now)
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, err
}

// sweepVersions removes superseded versions. That and the floor are one commit.
func (t TTLs) sweepVersions(ctx context.Context, q model.Querier, now coltype.Time) (int, error) {
	rows, err := q.VersionSweep(ctx, model.VersionSweepParams{Cutoff: now.Add(-t.Superseded), Max: passBatch})
	if err != nil {
		return 0, fmt.Errorf("sweep versions: %w", err)
	}
	floors := map[string]int64{}
	for _, row := range rows {
		floors[row.OwnerID] = max(floors[row.OwnerID], row.SupersededSeq)
	}
	for _, ownerID := range slices.Sorted(maps.Keys(floors)) {
		if _, err := q.OwnerSeqRaiseFloor(ctx, model.OwnerSeqRaiseFloorParams{OwnerID: ownerID, Floor: floors[ownerID]}); err != nil {
			return 0, fmt.Errorf("raise the floor of %s: %w", ownerID, err)
		}
	}
	return len(rows), nil
}

// sweepDeleted removes records that were deleted. Their partitions are held first,
// as by whoever writes, so that none of them comes back meanwhile.
func (t TTLs) sweepDeleted(ctx context.Context, q model.Querier, now coltype.Time) (int, error) {
	cutoff := now.Add(-t.Tombstone)
	rows, err := q.RecordListDeleted(ctx, model.RecordListDeletedParams{Cutoff: cutoff, Max: passBatch})
	if err != nil || len(rows) == 0 {
		return 0, wrap("list deleted records", err)
	}
	ids, floors := make([]string, len(rows)), map[partitionKey]int64{}
	for i, row := range rows {
		key := partitionKey{row.ConnectionID, row.Stream}
		ids[i], floors[key] = row.ID, max(floors[key], row.Version)
	}
	for _, p := range slices.SortedFunc(maps.Keys(floors), byPartition) {
		_, err := q.PartitionRaiseFloor(ctx, model.PartitionRaiseFloorParams{ConnectionID: p.ConnectionID, Stream: p.Stream, FloorVersion: floors[p]})
		if err != nil {
			return 0, fmt.Errorf("raise the floor of %s of %s: %w", p.Stream, p.ConnectionID, err)
		}
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	_, err = q.RecordSweep(ctx, model.RecordSweepParams{Ids: string(text), Cutoff: cutoff})
	return len(rows), wrap("sweep deleted records", err)
}

func byPartition(a, b partitionKey) int {
	return cmp.Or(cmp.Compare(a.ConnectionID, b.ConnectionID), cmp.Compare(a.Stream, b.Stream))
}

func (t TTLs) sweepBatches(ctx context.Context, q model.Querier, now coltype.Time) (int, error) {
	n, err := q.BatchSweep(ctx, model.BatchSweepParams{Cutoff: now.Add(-t.Batch), Max: passBatch})
	return int(n), wrap("sweep batches", err)
}

// wrap tells what an error is of.
func wrap(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

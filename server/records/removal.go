package records

import (
	"context"
	"errors"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// RemoveDeleted removes what deleted connections of all owners have brought, in
// batches, and returns how many rows. Nobody writes to a connection that is deleted,
// so that a batch removes what the ones before have left. A connection that fails
// keeps no other one waiting.
func RemoveDeleted(ctx context.Context, s *store.Store) (n int, err error) {
	var bad error
	for after := ""; ; {
		removed, of, err := removalBatch(ctx, s, after)
		n += removed
		switch {
		case of == nil:
			return n, errors.Join(bad, err)
		case err != nil || removed == 0:
			bad, after = errors.Join(bad, err), of.ConnectionID
		}
	}
}

// removalBatch is one transaction: a batch of the first removal behind the one given,
// which is nil if there is none. One that finds nothing ends the removal.
func removalBatch(ctx context.Context, s *store.Store, after string) (n int, of *sources.Removal, err error) {
	err = s.Tx(ctx, func(q model.Querier) (err error) {
		n = 0
		if of, err = sources.LockRemoval(ctx, q, after); of == nil || err != nil {
			return err
		}
		if n, err = removeRows(ctx, q, *of); n > 0 || err != nil {
			return err
		}
		return sources.EndRemoval(ctx, q, of.ConnectionID)
	})
	return n, of, err
}

// removeRows removes a batch of the first table that has rows of the connection.
// Versions go before records, and the records before what counts them.
func removeRows(ctx context.Context, q model.Querier, of sources.Removal) (int, error) {
	some := model.RecordDeleteByConnectionParams{ConnectionID: of.ConnectionID, Max: passBatch}
	all := model.PartitionDeleteByConnectionParams{ConnectionID: of.ConnectionID}
	for _, remove := range []func() (int64, error){
		func() (int64, error) { return q.VersionDeleteByConnection(ctx, some) },
		func() (int64, error) { return q.RecordDeleteByConnection(ctx, some) },
		func() (int64, error) { return q.DayCountDeleteByConnection(ctx, some) },
		func() (int64, error) { return q.BatchDeleteByConnection(ctx, some) },
		func() (int64, error) { return q.PartitionDeleteByConnection(ctx, all) },
		func() (int64, error) { return q.CheckpointDeleteByConnection(ctx, all) },
		func() (int64, error) { return removeRejections(ctx, q, of) },
	} {
		if n, err := remove(); n > 0 || err != nil {
			return int(n), wrap("remove "+of.ConnectionID, err)
		}
	}
	return 0, nil
}

// removeRejections removes the refused lines; the owner's quarantine has their room
// again.
func removeRejections(ctx context.Context, q model.Querier, of sources.Removal) (int64, error) {
	if _, err := takeSeq(ctx, q, of.OwnerID, 0); err != nil {
		return 0, err
	}
	sizes, err := q.RejectionDeleteByConnection(ctx, model.RejectionDeleteByConnectionParams{ConnectionID: of.ConnectionID})
	if err != nil || len(sizes) == 0 {
		return 0, err
	}
	return int64(len(sizes)), giveBack(ctx, q, of.OwnerID, sizes)
}

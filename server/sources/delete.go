package sources

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// Delete deletes the connection of a selector. A tombstone keeps its source from
// coming back by itself, and its active run is cancelled. The records that it brought
// are queued for removal, since they may be too many for one transaction; without
// their connection nobody can read them.
func Delete(ctx context.Context, q model.Querier, now coltype.Time, ownerID, selector, actor string) (model.Connection, error) {
	c, active, err := lockSelectedWithRun(ctx, q, ownerID, selector)
	if err == nil {
		err = cancel(ctx, q, now, c, active, runs.ReasonDeleted)
	}
	if err != nil {
		return model.Connection{}, err
	}
	err = q.TombstoneInsert(ctx, model.TombstoneInsertParams{
		OwnerID: c.OwnerID, ConnectorID: c.ConnectorID, SourceKind: c.SourceKind, BindingKey: c.BindingKey,
		ConnectionID: c.ID, Actor: &actor, DeletedAt: coltype.Later(now, c.UpdatedAt),
	})
	if err == nil {
		err = q.RemovalInsert(ctx, model.RemovalInsertParams{ConnectionID: c.ID, OwnerID: c.OwnerID, CreatedAt: now})
	}
	if err == nil {
		err = erase(ctx, q, c)
	}
	if err != nil {
		return model.Connection{}, fmt.Errorf("delete %s: %w", c.ID, err)
	}
	return c, nil
}

// erase deletes the row of a connection and those that belong to it.
func erase(ctx context.Context, q model.Querier, c model.Connection) error {
	if _, err := q.DeviceDeleteByConnection(ctx, model.DeviceDeleteByConnectionParams{ConnectionID: c.ID, OwnerID: c.OwnerID}); err != nil {
		return err
	}
	if _, err := q.HeadDelete(ctx, model.HeadDeleteParams{ConnectionID: c.ID, OwnerID: c.OwnerID}); err != nil {
		return err
	}
	_, err := q.ConnectionDelete(ctx, model.ConnectionDeleteParams{ID: c.ID, OwnerID: c.OwnerID})
	return err
}

// Removal is a deleted connection whose records are still being removed.
type Removal = model.ConnectionRemoval

// LockRemoval holds the first deleted connection of all owners behind the one given
// whose records are being removed; nil if there is none that nobody else holds.
func LockRemoval(ctx context.Context, q model.Querier, after string) (*Removal, error) {
	row, err := q.RemovalLock(ctx, model.RemovalLockParams{AfterID: after})
	if store.NotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find a deleted connection: %w", err)
	}
	return &row, nil
}

// EndRemoval notes that nothing is left of a deleted connection.
func EndRemoval(ctx context.Context, q model.Querier, connectionID string) error {
	if _, err := q.RemovalDelete(ctx, model.RemovalDeleteParams{ConnectionID: connectionID}); err != nil {
		return fmt.Errorf("end the removal of %s: %w", connectionID, err)
	}
	return nil
}

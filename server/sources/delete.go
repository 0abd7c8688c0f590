package sources

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
)

// Delete deletes the connection of a selector. A tombstone keeps its source from
// coming back by itself, its active run is cancelled, and what it brought is queued for removal: that may be too
// much for one transaction, and nobody finds it without the connection.
func Delete(ctx context.Context, q model.Querier, now coltype.Time, ownerID, selector, actor string) (model.Connection, error) {
	c, active, err := lockSelected(ctx, q, ownerID, selector)
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

package sources

import (
	"cmp"
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/store"
)

// ConnectionIn is a source to connect. Actor is recorded as who did it.
type ConnectionIn struct {
	OwnerID        string
	ConnectorID    string
	SourceKind     string
	BindingKey     string // tells sources of one kind apart, such as an account's id
	DisplayName    string // "": the connector's
	Status         string // Draft or Active
	ReplaceDeleted bool   // the source may have been deleted before
	Actor          string
}

// Created is a connection, and whether its source was connected before.
type Created struct {
	Connection   model.Connection
	Deduplicated bool
}

// Create connects a source, or returns the connection that it has, which stays as
// it is, also if it is revoked. A source that was deleted is connection_deleted
// unless in says otherwise.
func Create(ctx context.Context, q model.Querier, now coltype.Time, in ConnectionIn) (Created, error) {
	connector, err := q.ConnectorGet(ctx, model.ConnectorGetParams{OwnerID: in.OwnerID, ID: in.ConnectorID})
	if err = found(in.ConnectorID, err); err != nil {
		return Created{}, err
	}
	c, err := in.connected(ctx, q)
	if !store.NotFound(err) {
		return Created{Connection: c, Deduplicated: true}, found(in.ConnectorID, err)
	}
	in.DisplayName = cmp.Or(in.DisplayName, connector.DisplayName)
	made, err := in.insert(ctx, q, now)
	if err != nil {
		return Created{}, err
	}
	c, err = in.connected(ctx, q)
	if store.NotFound(err) {
		return Created{}, fmt.Errorf("the connection was deleted meanwhile: %w", store.ErrRerun)
	}
	return Created{Connection: c, Deduplicated: !made}, found(in.ConnectorID, err)
}

// connected is the connection of the source.
func (in ConnectionIn) connected(ctx context.Context, q model.Reader) (model.Connection, error) {
	return q.ConnectionGetByBinding(ctx, model.ConnectionGetByBindingParams{
		OwnerID: in.OwnerID, ConnectorID: in.ConnectorID, SourceKind: in.SourceKind, BindingKey: in.BindingKey,
	})
}

// insert makes the connection and its heads; false if its source has been connected
// meanwhile.
func (in ConnectionIn) insert(ctx context.Context, q model.Querier, now coltype.Time) (bool, error) {
	newID := id.New(idPrefix)
	n, err := q.ConnectionInsert(ctx, model.ConnectionInsertParams{
		ID: newID, OwnerID: in.OwnerID, ConnectorID: in.ConnectorID, SourceKind: in.SourceKind, BindingKey: in.BindingKey,
		DisplayName: in.DisplayName, Status: in.Status, Actor: &in.Actor, CreatedAt: now,
	})
	if err != nil {
		return false, fmt.Errorf("connect a source of %s: %w", in.ConnectorID, err)
	}
	if n == 0 {
		return false, nil
	}
	if err := in.overTombstone(ctx, q); err != nil {
		return false, err
	}
	if err := q.HeadInsert(ctx, model.HeadInsertParams{ConnectionID: newID, OwnerID: in.OwnerID, UpdatedAt: now}); err != nil {
		return false, fmt.Errorf("make the heads of %s: %w", newID, err)
	}
	return true, nil
}

// overTombstone takes the tombstone of the source away if that is asked for. It is
// read after the connection is inserted: a delete of the same source that comes then
// waits for this transaction.
func (in ConnectionIn) overTombstone(ctx context.Context, q model.Querier) error {
	old, err := q.TombstoneGet(ctx, model.TombstoneGetParams{
		OwnerID: in.OwnerID, ConnectorID: in.ConnectorID, SourceKind: in.SourceKind, BindingKey: in.BindingKey,
	})
	switch {
	case store.NotFound(err):
		return nil
	case err != nil:
		return found(in.ConnectorID, err)
	case !in.ReplaceDeleted:
		return fault.ConnectionDeleted(old.ConnectionID)
	}
	_, err = q.TombstoneDelete(ctx, model.TombstoneDeleteParams{
		OwnerID: in.OwnerID, ConnectorID: in.ConnectorID, SourceKind: in.SourceKind, BindingKey: in.BindingKey,
	})
	if err != nil {
		return fmt.Errorf("take the tombstone of %s away: %w", old.ConnectionID, err)
	}
	return nil
}

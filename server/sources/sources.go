// Package sources keeps where records come from: connectors, which declare streams
// of records, and connections, each one account, device or import of a connector.
//
// A source is connected once: whoever connects it again gets the connection that
// there is. One that was deleted does not come back by itself, since a tombstone
// stands in its place. A connection is a draft until it brings records; revoked, it
// stays as it is for good, and nothing more is written to it.
//
// Nothing that reads a connection reads the manifest of its connector: what the
// server needs of that stands in connector_streams.
package sources

import (
	"context"
	"fmt"
	"strings"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// Statuses of a connection (constraint connections_status_check).
const (
	Draft   = "draft"  // it has brought nothing yet
	Active  = "active" // it brings records
	Paused  = "paused" // nobody should start runs of it; what it brings is taken
	Revoked = "revoked"
)

// Statuses are all of them.
var Statuses = []string{Draft, Active, Paused, Revoked}

// Kinds say what is connected (constraints connections_source_kind_check and
// connection_tombstones_source_kind_check).
var Kinds = []string{"account", "device", "browser", "manual"}

// idPrefix is of the ids of connections. No connector's id begins so: a selector is
// one or the other.
const idPrefix = "conn"

// maxCounted bounds how many connections of a connector an ambiguous selector
// counts.
const maxCounted = 100

// Resolve is the connection that a selector names: by its id, or by the id of a
// connector that has exactly one connection which is not revoked. A revoked one is
// found by its id alone.
func Resolve(ctx context.Context, q model.Reader, ownerID, selector string) (model.Connection, error) {
	if strings.HasPrefix(selector, idPrefix+"_") {
		c, err := q.ConnectionGet(ctx, model.ConnectionGetParams{ID: selector, OwnerID: ownerID})
		return c, found(selector, err)
	}
	of, err := q.ConnectionListByConnector(ctx, model.ConnectionListByConnectorParams{OwnerID: ownerID, ConnectorID: selector, Max: maxCounted + 1})
	switch {
	case err != nil:
		return model.Connection{}, found(selector, err)
	case len(of) == 0:
		return model.Connection{}, fault.NotFound()
	case len(of) > 1:
		return model.Connection{}, fault.Ambiguous(selector, len(of), maxCounted)
	}
	return of[0], nil
}

// Hold is a connection to which records are about to be written. Nobody else
// writes to it or changes it before the transaction ends, and a revoked one is
// connection_revoked.
func Hold(ctx context.Context, q model.Querier, ownerID, connectionID string) (model.Connection, error) {
	c, err := Lock(ctx, q, ownerID, connectionID)
	if err == nil && c.Status == Revoked {
		err = fault.ConnectionRevoked(c.ID)
	}
	return c, err
}

// Activate ends the draft of a connection that is held, if it is one: it has
// brought a record.
func Activate(ctx context.Context, q model.Querier, now coltype.Time, c model.Connection) error {
	if c.Status != Draft {
		return nil
	}
	_, err := q.ConnectionActivate(ctx, model.ConnectionActivateParams{ID: c.ID, OwnerID: c.OwnerID, Now: now})
	if err != nil {
		return fmt.Errorf("activate %s: %w", c.ID, err)
	}
	return nil
}

// found is not_found for a row that is not there, and tells what an error is of.
func found(id string, err error) error {
	if store.NotFound(err) {
		return fault.NotFound()
	}
	if err != nil {
		return fmt.Errorf("look up %s: %w", id, err)
	}
	return nil
}

// Ingested notes that a connection has brought records.
func Ingested(ctx context.Context, q model.Querier, now coltype.Time, ownerID, connectionID string) error {
	n, err := q.HeadIngested(ctx, model.HeadIngestedParams{ConnectionID: connectionID, OwnerID: ownerID, Now: now})
	if err == nil && n == 0 {
		err = fault.NotFound()
	}
	if err != nil {
		return fmt.Errorf("note the records of %s: %w", connectionID, err)
	}
	return nil
}

// AcceptedIn is a batch that a device of a connection has sent, whole.
type AcceptedIn struct{ OwnerID, ConnectionID, Device, BatchID string }

// Accepted notes the batch of a device that was accepted last.
func Accepted(ctx context.Context, q model.Querier, now coltype.Time, in AcceptedIn) error {
	err := q.DeviceAccept(ctx, model.DeviceAcceptParams{
		ConnectionID: in.ConnectionID, Device: in.Device, OwnerID: in.OwnerID, LastBatchID: &in.BatchID, Now: now,
	})
	if err != nil {
		return fmt.Errorf("note batch %s of device %s: %w", in.BatchID, in.Device, err)
	}
	return nil
}

package sources

import (
	"context"
	"strings"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/keyset"
)

// ListIn selects an owner's connections. An empty ConnectorID does not filter.
type ListIn struct{ OwnerID, ConnectorID string }

var byConnector = keyset.Leading[model.Connection](func(in ListIn) string { return in.ConnectorID })

// List is an owner's connections by connector, the oldest first, those that are
// revoked too. The id of a position is that of the connector, a slash, and that of
// the connection.
var List = keyset.Whole(keyset.List[model.Reader, ListIn, model.Connection, model.Connection]{
	Name:    "connections",
	Filters: keyset.Filters(byConnector),
	Leads: []keyset.Lead[model.Reader, ListIn, model.Connection, model.Connection]{
		{By: keyset.Filters(byConnector), Page: keyset.Statement(ofConnector, model.Reader.ConnectionPageByConnector)},
		{Page: pageOfOwner},
	},
	At: func(c model.Connection) keyset.Position {
		return keyset.Position{At: c.CreatedAt, ID: c.ConnectorID + "/" + c.ID}
	},
})

func ofConnector(in ListIn, from keyset.Position, max int64) model.ConnectionPageByConnectorParams {
	_, id, _ := strings.Cut(from.ID, "/")
	return model.ConnectionPageByConnectorParams{OwnerID: in.OwnerID, ConnectorID: in.ConnectorID, AfterAt: from.At, AfterID: id, Max: max}
}

// pageOfOwner is the rest of the connector at which the page before ended, and those
// behind it. No shared statement compares three columns of two types.
func pageOfOwner(ctx context.Context, q model.Reader, in ListIn, from keyset.Position, max int64) (page []model.Connection, err error) {
	connector, _, _ := strings.Cut(from.ID, "/")
	if connector != "" {
		page, err = q.ConnectionPageByConnector(ctx, ofConnector(ListIn{in.OwnerID, connector}, from, max))
	}
	if rest := max - int64(len(page)); err == nil && rest > 0 {
		var more []model.Connection
		more, err = q.ConnectionPage(ctx, model.ConnectionPageParams{OwnerID: in.OwnerID, AfterConnectorID: connector, Max: rest})
		page = append(page, more...)
	}
	return page, err
}

var connectors = keyset.Plain("connectors",
	func(c model.ConnectorPageRow) keyset.Position { return keyset.Position{ID: c.ID} },
	func(ownerID string, from keyset.Position, max int64) model.ConnectorPageParams {
		return model.ConnectorPageParams{OwnerID: ownerID, AfterID: from.ID, Max: max}
	}, model.Reader.ConnectorPage)

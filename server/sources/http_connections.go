package sources

import (
	"cmp"
	"context"
	"net/http"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/web"
)

// connectionBody is a source to connect.
type connectionBody struct {
	ConnectorID    string    `json:"connector_id" minLength:"1" doc:"It must be known: PUT /v1/connectors/{id}."`
	SourceKind     string    `json:"source_kind,omitempty" enum:"account,device,browser,manual" doc:"Default account."`
	BindingKey     web.Name  `json:"binding_key,omitempty" doc:"Tells the sources of a kind apart, such as an account's id; up to 255 bytes. Default: empty."`
	DisplayName    *web.Name `json:"display_name,omitempty" minLength:"1" maxLength:"200" doc:"Default: the connector's."`
	Status         string    `json:"status,omitempty" enum:"draft,active" doc:"Default draft: it becomes active with the first records that it brings."`
	ReplaceDeleted bool      `json:"replace_deleted,omitempty" doc:"Connect the source also if its connection was deleted. Its old records do not come back."`
}

type createConnectionInput struct{ Body connectionBody }

// connectedJSON answers a connection.
type connectedJSON struct {
	Connection   connectionJSON `json:"connection"`
	Deduplicated bool           `json:"deduplicated" doc:"The source was connected: connection is that one."`
}

func createConnection(ctx context.Context, q model.Querier, now coltype.Time, in *createConnectionInput) (web.Answer[connectedJSON], error) {
	caller, b := web.Caller(ctx), in.Body
	create := ConnectionIn{
		OwnerID: caller.OwnerID, ConnectorID: b.ConnectorID, SourceKind: cmp.Or(b.SourceKind, Kinds[0]), BindingKey: string(b.BindingKey),
		Status: cmp.Or(b.Status, Draft), ReplaceDeleted: b.ReplaceDeleted, Actor: caller.TokenName,
	}
	if b.DisplayName != nil {
		create.DisplayName = string(*b.DisplayName)
	}
	got, err := Create(ctx, q, now, create)
	if err != nil {
		return web.Answer[connectedJSON]{}, err
	}
	out := web.Answer[connectedJSON]{
		Body: connectedJSON{Connection: connectionOf(got.Connection), Deduplicated: got.Deduplicated},
		ETag: web.ETag(got.Connection.Version),
	}
	if got.Deduplicated {
		out.Status = http.StatusOK
	}
	return out, nil
}

type connectionsInput struct {
	web.ShortPageQuery
	ConnectorID string `query:"connector_id"`
}

var listedConnections = web.ListOf[connectionsInput, model.Connection, connectionJSON]{
	Kind: "connections", Order: web.Oldest,
	Page: web.PageOf(List, func(ownerID string, in *connectionsInput) ListIn {
		return ListIn{OwnerID: ownerID, ConnectorID: in.ConnectorID}
	}),
	Item: func(c model.Connection, _ coltype.Time) connectionJSON { return connectionOf(c) },
}

type connectionInput struct {
	Connection string `path:"connection"`
}

func getConnection(ctx context.Context, q model.Reader, _ coltype.Time, in *connectionInput) (*connectionDetailJSON, error) {
	d, err := Get(ctx, q, web.Caller(ctx).OwnerID, in.Connection)
	if err != nil {
		return nil, err
	}
	return detailOf(d), nil
}

// connectionAnswer is a connection after a change, or before its end.
type connectionAnswer struct {
	Connection connectionJSON `json:"connection"`
}

func answered(c model.Connection) web.Answer[connectionAnswer] {
	return web.Answer[connectionAnswer]{Body: connectionAnswer{connectionOf(c)}, ETag: web.ETag(c.Version)}
}

type renameConnectionInput struct {
	web.IfMatch
	Connection string `path:"connection"`
	Body       struct {
		DisplayName web.Name `json:"display_name" minLength:"1" maxLength:"200"`
	}
}

func renameConnection(ctx context.Context, q model.Querier, now coltype.Time, in *renameConnectionInput) (web.Answer[connectionAnswer], error) {
	caller := web.Caller(ctx)
	c, err := Rename(ctx, q, now, RenameIn{
		OwnerID: caller.OwnerID, Selector: in.Connection, DisplayName: string(in.Body.DisplayName), Actor: caller.TokenName, Match: in.Require,
	})
	return answered(c), err
}

// moveTo handles the route that brings a connection into that status.
func moveTo(status string) func(context.Context, model.Querier, coltype.Time, *connectionInput) (web.Answer[connectionAnswer], error) {
	return func(ctx context.Context, q model.Querier, now coltype.Time, in *connectionInput) (web.Answer[connectionAnswer], error) {
		caller := web.Caller(ctx)
		c, err := Move(ctx, q, now, MoveIn{OwnerID: caller.OwnerID, Selector: in.Connection, To: status, Actor: caller.TokenName})
		return answered(c), err
	}
}

func deleteConnection(ctx context.Context, q model.Querier, now coltype.Time, in *connectionInput) (web.Answer[connectionAnswer], error) {
	caller := web.Caller(ctx)
	c, err := Delete(ctx, q, now, caller.OwnerID, in.Connection, caller.TokenName)
	out := answered(c)
	out.ETag = ""
	return out, err
}

package sources

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/web"
)

// connectorJSON is a connector without its manifest.
type connectorJSON struct {
	ID          string       `json:"id"`
	DisplayName string       `json:"display_name"`
	Version     int64        `json:"version" doc:"1 at first, and one more with every change of the manifest."`
	CreatedAt   coltype.Time `json:"created_at"`
	UpdatedAt   coltype.Time `json:"updated_at"`
}

func connectorOf(c model.ConnectorPageRow, _ coltype.Time) connectorJSON {
	return connectorJSON{ID: c.ID, DisplayName: c.DisplayName, Version: c.Version, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
}

// streamJSON is a stream as a connector declares it.
type streamJSON struct {
	Name       string   `json:"name"`
	Semantics  string   `json:"semantics" enum:"append_only,mutable_state"`
	PrimaryKey []string `json:"primary_key" doc:"Fields of the data; empty: the data is its own key."`
	TimeField  *string  `json:"time_field" nullable:"true" doc:"The field that tells when a thing happened."`
	Label      string   `json:"label"`
}

// connectorDetailJSON is a connector with its manifest and its streams.
type connectorDetailJSON struct {
	connectorJSON
	Manifest      coltype.JSON `json:"manifest" doc:"As it was sent; null if it is unavailable."`
	ManifestState string       `json:"manifest_state" enum:"current,unavailable" doc:"unavailable: this build cannot read what is stored. Connections and streams go on."`
	Streams       []streamJSON `json:"streams" doc:"By name."`
}

func (c connectorDetailJSON) ETag() string { return web.ETag(c.Version) }

// States of a stored manifest.
const (
	current     = "current"
	unavailable = "unavailable" // it does not parse: it was written by hand, or by another build
)

func connectorDetailOf(d ConnectorDetail) *connectorDetailJSON {
	c := d.Connector
	out := &connectorDetailJSON{
		connectorJSON: connectorJSON{ID: c.ID, DisplayName: c.DisplayName, Version: c.Version, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt},
		Manifest:      c.Manifest, ManifestState: current, Streams: make([]streamJSON, 0, len(d.Streams)),
	}
	if _, faults := ParseManifest(c.Manifest, ""); faults != nil {
		out.Manifest, out.ManifestState = nil, unavailable
	}
	for _, s := range d.Streams {
		out.Streams = append(out.Streams, streamJSON(s))
	}
	slices.SortFunc(out.Streams, func(a, b streamJSON) int { return strings.Compare(a.Name, b.Name) })
	return out
}

var listedConnectors = web.ListOf[web.PageQuery, model.ConnectorPageRow, connectorJSON]{
	Kind: "connectors", Order: web.ByName, Item: connectorOf,
	Page: web.PageOf(connectors, func(ownerID string, _ *web.PageQuery) string { return ownerID }),
}

type connectorInput struct {
	ID string `path:"id"`
}

func getConnector(ctx context.Context, q model.Reader, _ coltype.Time, in *connectorInput) (*connectorDetailJSON, error) {
	d, err := GetConnector(ctx, q, web.Caller(ctx).OwnerID, in.ID)
	if err != nil {
		return nil, err
	}
	return connectorDetailOf(d), nil
}

type putConnectorInput struct {
	web.IfMatch
	ID   string `path:"id"`
	Body struct {
		Manifest coltype.JSON `json:"manifest" maxBytes:"262144" doc:"An object of up to 256 KiB: display_name, version and up to 200 streams {name, semantics, primary_key, time_field, label}; its other members are kept as they are."`
	}
}

// Faults are an id that no connector may have, and those of the manifest.
func (in *putConnectorInput) Faults() (faults []fault.Item) {
	if !connectorID.MatchString(in.ID) || strings.HasPrefix(in.ID, idPrefix+"_") {
		faults = append(faults, fault.Item{In: fault.InPath, Pointer: "/id", Detail: "takes 1 to 63 small letters, digits, '_', '.' and '-', begins with a letter, and not with conn_"})
	}
	if in.Body.Manifest != nil {
		_, bad := ParseManifest(in.Body.Manifest, "/manifest")
		faults = append(faults, bad...)
	}
	return faults
}

// match takes the version of a known connector if If-Match names it. For an unknown
// one (version 0) If-Match must be absent: even * matches only what exists.
func (in *putConnectorInput) match(version int64) error {
	switch {
	case version > 0:
		return in.Require(version)
	case in.IfMatch.IfMatch != "":
		return fault.PreconditionFailed()
	}
	return nil
}

// connectorAnswer is a connector after a change.
type connectorAnswer struct {
	Connector connectorJSON `json:"connector"`
}

func putConnector(ctx context.Context, q model.Querier, now coltype.Time, in *putConnectorInput) (web.Answer[connectorAnswer], error) {
	c, created, err := PutConnector(ctx, q, now, ConnectorIn{
		OwnerID: web.Caller(ctx).OwnerID, ID: in.ID, Manifest: in.Body.Manifest, Match: in.match,
	})
	if err != nil {
		return web.Answer[connectorAnswer]{}, err
	}
	out := web.Answer[connectorAnswer]{ETag: web.ETag(c.Version)}
	out.Body.Connector = connectorJSON{ID: c.ID, DisplayName: c.DisplayName, Version: c.Version, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

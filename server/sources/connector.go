package sources

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/datum"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// ConnectorDetail is a connector with its streams, by name.
type ConnectorDetail struct {
	model.Connector
	Streams map[string]Stream
}

// GetConnector is one connector of an owner.
func GetConnector(ctx context.Context, q model.Reader, ownerID, id string) (ConnectorDetail, error) {
	c, err := q.ConnectorGet(ctx, model.ConnectorGetParams{OwnerID: ownerID, ID: id})
	if err = found(id, err); err != nil {
		return ConnectorDetail{}, err
	}
	streams, err := Streams(ctx, q, ownerID, id)
	return ConnectorDetail{Connector: c, Streams: streams}, err
}

// ConnectorIn is a connector with the manifest that it is to have. Match refuses a
// version that the caller has not seen; that of an unknown connector is 0.
type ConnectorIn struct {
	OwnerID  string
	ID       string
	Manifest coltype.JSON
	Match    func(version int64) error
}

// PutConnector makes a connector (created), or replaces its manifest and the streams
// that it declares. An equal manifest changes nothing. Records of a stream that is
// gone stay.
func PutConnector(ctx context.Context, q model.Querier, now coltype.Time, in ConnectorIn) (c model.Connector, created bool, err error) {
	m, faults := ParseManifest(in.Manifest, "/manifest")
	if faults != nil {
		return c, false, fault.Invalid(faults...)
	}
	args := model.ConnectorGetParams{OwnerID: in.OwnerID, ID: in.ID}
	_, err = q.ConnectorGet(ctx, args)
	switch {
	case store.NotFound(err):
		created, err = in.insert(ctx, q, now, m)
	case err != nil:
		err = found(in.ID, err)
	}
	if err == nil && !created {
		err = in.replace(ctx, q, now, m)
	}
	if err != nil {
		return c, false, err
	}
	c, err = q.ConnectorGet(ctx, args)
	return c, created, found(in.ID, err)
}

// insert makes a connector that was unknown a moment ago; false if it has been made
// meanwhile.
func (in ConnectorIn) insert(ctx context.Context, q model.Querier, now coltype.Time, m Manifest) (bool, error) {
	if err := in.Match(0); err != nil {
		return false, err
	}
	n, err := q.ConnectorInsert(ctx, model.ConnectorInsertParams{
		OwnerID: in.OwnerID, ID: in.ID, DisplayName: cmp.Or(m.DisplayName, in.ID), Manifest: in.Manifest, CreatedAt: now,
	})
	if err != nil {
		return false, fmt.Errorf("make connector %s: %w", in.ID, err)
	}
	if n == 0 {
		return false, nil
	}
	return true, in.declare(ctx, q, now, m, nil)
}

// replace writes the manifest at the version it reads, if Match takes that version.
// A write that another one overtook is precondition_failed.
func (in ConnectorIn) replace(ctx context.Context, q model.Querier, now coltype.Time, m Manifest) error {
	have, err := q.ConnectorGet(ctx, model.ConnectorGetParams{OwnerID: in.OwnerID, ID: in.ID})
	if err = found(in.ID, err); err == nil {
		err = in.Match(have.Version)
	}
	if err != nil || equal(have.Manifest, in.Manifest) {
		return err
	}
	n, err := q.ConnectorSet(ctx, model.ConnectorSetParams{
		OwnerID: in.OwnerID, ID: in.ID, Version: have.Version, UpdatedAt: coltype.Later(now, have.UpdatedAt),
		DisplayName: cmp.Or(m.DisplayName, in.ID), Manifest: in.Manifest,
	})
	if err != nil {
		return fmt.Errorf("change connector %s: %w", in.ID, err)
	}
	if n == 0 {
		return fault.PreconditionFailed()
	}
	return in.redeclare(ctx, q, now, m)
}

// redeclare replaces the streams that are declared. A stream that stays keeps its
// created_at.
func (in ConnectorIn) redeclare(ctx context.Context, q model.Querier, now coltype.Time, m Manifest) error {
	rows, err := q.StreamList(ctx, model.StreamListParams{OwnerID: in.OwnerID, ConnectorID: in.ID})
	if err != nil {
		return fmt.Errorf("list the streams of %s: %w", in.ID, err)
	}
	made := make(map[string]coltype.Time, len(rows))
	for _, row := range rows {
		made[row.Name] = row.CreatedAt
	}
	if _, err := q.StreamDeleteByConnector(ctx, model.StreamDeleteByConnectorParams{OwnerID: in.OwnerID, ConnectorID: in.ID}); err != nil {
		return fmt.Errorf("take the streams of %s away: %w", in.ID, err)
	}
	return in.declare(ctx, q, now, m, made)
}

// streamRow is one member of StreamInsertMany's @rows.
type streamRow struct {
	Name       string  `json:"name"`
	Semantics  string  `json:"semantics"`
	PrimaryKey string  `json:"primary_key"` // JSON
	TimeField  *string `json:"time_field,omitempty"`
	Label      string  `json:"label"`
	CreatedAt  int64   `json:"created_at"` // microseconds
}

// declare writes the streams of a manifest; made says when some were made before.
func (in ConnectorIn) declare(ctx context.Context, q model.Querier, now coltype.Time, m Manifest, made map[string]coltype.Time) error {
	if len(m.Streams) == 0 {
		return nil
	}
	rows := make([]streamRow, len(m.Streams))
	for i, s := range m.Streams {
		key, err := json.Marshal(s.PrimaryKey)
		if err != nil {
			return err
		}
		at, before := made[s.Name]
		if !before {
			at = now
		}
		rows[i] = streamRow{Name: s.Name, Semantics: s.Semantics, PrimaryKey: string(key), TimeField: s.TimeField, Label: s.Label, CreatedAt: at.UnixMicro()}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	if _, err := q.StreamInsertMany(ctx, model.StreamInsertManyParams{OwnerID: in.OwnerID, ConnectorID: in.ID, Rows: string(text)}); err != nil {
		return fmt.Errorf("declare %d streams of %s: %w", len(rows), in.ID, err)
	}
	return nil
}

// equal reports whether two manifests have the same structure. One that is no object,
// as may be written by hand, equals nothing.
func equal(a, b coltype.JSON) bool {
	one, errOne := datum.Of(a)
	other, errOther := datum.Of(b)
	return errOne == nil && errOther == nil && one.Hash == other.Hash
}

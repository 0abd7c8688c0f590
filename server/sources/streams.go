package sources

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stint-run/stint/gen/model"
)

// Semantics of a stream (constraint connector_streams_semantics_check).
const (
	AppendOnly   = "append_only"   // a record is never changed by its source
	MutableState = "mutable_state" // a record is what the source has now
)

// Semantics are all of them.
var Semantics = []string{AppendOnly, MutableState}

// Stream is a stream as its connector declares it.
type Stream struct {
	Name       string
	Semantics  string
	PrimaryKey []string // fields of the data; none: the data is its own key
	TimeField  *string  // the field that tells when a thing happened
	Label      string
}

// Streams are the streams that a connector declares, by name.
func Streams(ctx context.Context, q model.Reader, ownerID, connectorID string) (map[string]Stream, error) {
	rows, err := q.StreamList(ctx, model.StreamListParams{OwnerID: ownerID, ConnectorID: connectorID})
	if err != nil {
		return nil, fmt.Errorf("list the streams of %s: %w", connectorID, err)
	}
	out := make(map[string]Stream, len(rows))
	for _, row := range rows {
		s := Stream{Name: row.Name, Semantics: row.Semantics, TimeField: row.TimeField, Label: row.Label}
		if err := json.Unmarshal(row.PrimaryKey, &s.PrimaryKey); err != nil {
			return nil, fmt.Errorf("read the key of stream %s of %s: %w", row.Name, connectorID, err)
		}
		out[row.Name] = s
	}
	return out, nil
}

package sources

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/stint-run/stint/gen/model"
)

// Bounds of what a connection is shown with.
const (
	maxPartitions = 1000
	maxDevices    = 100
)

// Detail is a connection with what it has.
type Detail struct {
	model.Connection
	Streams []StreamState // by name
	Heads   model.ConnectionHead
	Devices []model.ConnectionDevice // by name, the first 100
}

// StreamState is a stream that the connector declares, that the connection has
// records of, or both.
type StreamState struct {
	Name      string
	Declared  *Stream         // nil: it is declared no more
	Partition model.Partition // zero: nothing came of it
}

// Get is the connection of a selector.
func Get(ctx context.Context, q model.Reader, ownerID, selector string) (Detail, error) {
	c, err := Resolve(ctx, q, ownerID, selector)
	if err != nil {
		return Detail{}, err
	}
	d := Detail{Connection: c}
	if d.Heads, err = q.HeadGet(ctx, model.HeadGetParams{ConnectionID: c.ID, OwnerID: ownerID}); err != nil {
		return Detail{}, found(c.ID, err)
	}
	if d.Devices, err = q.DeviceList(ctx, model.DeviceListParams{ConnectionID: c.ID, OwnerID: ownerID, Max: maxDevices}); err != nil {
		return Detail{}, fmt.Errorf("list the devices of %s: %w", c.ID, err)
	}
	d.Streams, err = streamsOf(ctx, q, c)
	return d, err
}

// streamsOf are the streams that the connector of a connection declares, and those
// that the connection has records of.
func streamsOf(ctx context.Context, q model.Reader, c model.Connection) ([]StreamState, error) {
	declared, err := Streams(ctx, q, c.OwnerID, c.ConnectorID)
	if err != nil {
		return nil, err
	}
	partitions, err := q.PartitionList(ctx, model.PartitionListParams{ConnectionID: c.ID, OwnerID: c.OwnerID, Max: maxPartitions})
	if err != nil {
		return nil, fmt.Errorf("list the partitions of %s: %w", c.ID, err)
	}
	states := make([]StreamState, 0, len(declared)+len(partitions))
	for _, p := range partitions {
		state := StreamState{Name: p.Stream, Partition: p}
		if s, ok := declared[p.Stream]; ok {
			state.Declared = &s
			delete(declared, p.Stream)
		}
		states = append(states, state)
	}
	for name, s := range declared {
		states = append(states, StreamState{Name: name, Declared: &s})
	}
	slices.SortFunc(states, func(a, b StreamState) int { return cmp.Compare(a.Name, b.Name) })
	return states, nil
}

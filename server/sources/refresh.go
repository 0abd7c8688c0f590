package sources

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
)

// refreshIn is what a run reads whole: a record of one of the streams that it does
// not bring is removed after it has succeeded.
type refreshIn struct {
	RunID      string
	Generation int64
	Streams    []string // each once; those that it reads whole already stay as they are
}

// beginRefresh has the partitions mark what the run of a locked connection brings
// from now on. The transaction that ends the run ends the marks too.
func beginRefresh(ctx context.Context, q model.Querier, now coltype.Time, c model.Connection, in refreshIn) error {
	if len(in.Streams) == 0 {
		return nil
	}
	if err := refreshable(ctx, q, c, in.Streams); err != nil {
		return err
	}
	text, err := json.Marshal(slices.Sorted(slices.Values(in.Streams)))
	if err != nil {
		return err
	}
	n, err := q.PartitionBeginRefresh(ctx, model.PartitionBeginRefreshParams{
		ConnectionID: c.ID, OwnerID: c.OwnerID, Streams: string(text), RunID: in.RunID, Generation: in.Generation, Now: now,
	})
	if err != nil {
		return fmt.Errorf("begin to refresh %s: %w", c.ID, err)
	}
	if n < int64(len(in.Streams)) {
		return fault.RefreshUnderWay(c.ID)
	}
	return nil
}

// refreshable is a fault for each stream that the connector does not declare, or
// that only grows: there a record that is not seen again is no record that is gone.
func refreshable(ctx context.Context, q model.Reader, c model.Connection, streams []string) error {
	declared, err := Streams(ctx, q, c.OwnerID, c.ConnectorID)
	if err != nil {
		return err
	}
	var items []fault.Item
	for i, name := range streams {
		stream, known := declared[name]
		at := "/full_refresh/" + strconv.Itoa(i)
		switch {
		case !known:
			items = append(items, fault.Item{Pointer: at, Detail: "the connector declares no such stream"})
		case stream.Semantics == AppendOnly:
			items = append(items, fault.Item{Pointer: at, Detail: "the stream is append_only: its records are never removed by a refresh"})
		}
	}
	if items != nil {
		return fault.Invalid(items...)
	}
	return nil
}

// endRefresh has what a succeeded run did not bring removed, and clears the marks of
// any other. One that succeeded with gaps has not seen all there is.
func endRefresh(ctx context.Context, q model.Querier, now coltype.Time, c model.Connection, runID string, succeeded bool) error {
	var err error
	if succeeded {
		_, err = q.PartitionBeginRemoval(ctx, model.PartitionBeginRemovalParams{OwnerID: c.OwnerID, RunID: &runID, Now: now})
	} else {
		_, err = q.PartitionCancelRefresh(ctx, model.PartitionCancelRefreshParams{OwnerID: c.OwnerID, RunID: &runID, Now: now})
	}
	if err != nil {
		return fmt.Errorf("end the refresh of %s: %w", runID, err)
	}
	return nil
}

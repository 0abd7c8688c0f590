package records

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
)

// Write takes up to a chunk of lines in the transaction of q: all of them, or
// none. It is the fault not_found for an unknown connection or run,
// connection_revoked, or run_not_active. A line that is refused is in the result,
// and stops no other.
//
// The number of statements does not grow with the lines. Prepare the lines before
// the transaction begins.
func Write(ctx context.Context, q model.Querier, now coltype.Time, to Target, lines []Line) (Written, error) {
	connection, streams, err := admit(ctx, q, to)
	if err != nil {
		return Written{}, err
	}
	c := newChunk(lines, streams)
	f, err := c.fold(ctx, q, now, to)
	if err == nil {
		err = c.note(ctx, q, now, connection, orNil(to.RunID))
	}
	if err == nil {
		err = f.write(ctx, q, now)
	}
	if err == nil {
		c.Rejected, err = quarantine(ctx, q, now, to, c.refused)
	}
	return c.Written, err
}

// admit holds the run and the connection, and returns the streams that lines may
// name.
func admit(ctx context.Context, q model.Querier, to Target) (c model.Connection, streams map[string]sources.Stream, err error) {
	if to.RunID != "" {
		if err := runs.Hold(ctx, q, to.OwnerID, to.RunID, to.ConnectionID, to.Generation); err != nil {
			return c, nil, err
		}
	}
	if c, err = sources.Hold(ctx, q, to.OwnerID, to.ConnectionID); err != nil {
		return c, nil, err
	}
	streams, err = sources.Streams(ctx, q, to.OwnerID, c.ConnectorID)
	return c, streams, err
}

package records

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/sources"
)

// chunk is what the lines of a chunk ask for, sorted out.
type chunk struct {
	Written
	changes     []change
	checkpoints []checkpointRow // the last of each stream
	refused     []*Line
}

// newChunk reads the lines, each by the declaration of its stream.
func newChunk(lines []Line, streams map[string]sources.Stream) *chunk {
	c := &chunk{changes: make([]change, 0, len(lines))}
	Prepare(lines, streams)
	for i := range lines {
		line := &lines[i]
		refusal := line.Refused
		if refusal == nil {
			refusal = c.take(line, streams)
		}
		if refusal != nil {
			refused := *line
			refused.Refused = refusal
			refused.hash() // before the owner's other writers wait
			c.refused = append(c.refused, &refused)
		}
	}
	return c
}

// take adds what the line asks for.
func (c *chunk) take(line *Line, streams map[string]sources.Stream) *Refusal {
	if _, declared := streams[line.Stream]; !declared && (line.Stream != "" || line.Checkpoint == nil) {
		return refuse(UnknownStream, "the connector declares no stream %q", line.Stream)
	}
	if line.Checkpoint != nil {
		return c.setCheckpoint(line)
	}
	if line.asked.refusal == nil {
		c.changes = append(c.changes, line.asked.change)
	}
	return line.asked.refusal
}

// checkpointRow is one element of CheckpointSetMany's @rows.
type checkpointRow struct {
	Stream     string `json:"stream"`
	Checkpoint string `json:"checkpoint"`
}

func (c *chunk) setCheckpoint(line *Line) *Refusal {
	if len(line.Checkpoint) > MaxCheckpoint {
		return refuse(InvalidRecord, "the checkpoint is longer than %d bytes", MaxCheckpoint)
	}
	c.Checkpoints++
	c.checkpoints = slices.DeleteFunc(c.checkpoints, func(row checkpointRow) bool { return row.Stream == line.Stream })
	c.checkpoints = append(c.checkpoints, checkpointRow{line.Stream, string(line.Checkpoint)})
	return nil
}

// fold takes the changes in memory, under the lock of their partitions.
func (c *chunk) fold(ctx context.Context, q model.Querier, now coltype.Time, to Target) (*fold, error) {
	h := &held{}
	if len(c.changes) > 0 {
		var err error
		if h, err = hold(ctx, q, now, to, streamsOf(c.changes)); err != nil {
			return nil, err
		}
	}
	f, err := foldAll(ctx, q, h, c.changes)
	c.Accepted, c.Unchanged = f.n, f.unchanged
	return f, err
}

// note writes what the chunk says of its connection, which is held.
func (c *chunk) note(ctx context.Context, q model.Querier, now coltype.Time, connection model.Connection, run *string) error {
	if c.Accepted > 0 {
		if err := sources.Activate(ctx, q, now, connection); err != nil {
			return err
		}
	}
	if err := c.checkpoint(ctx, q, now, connection, run); err != nil || c.Accepted+c.Unchanged == 0 {
		return err
	}
	return sources.Ingested(ctx, q, now, connection.OwnerID, connection.ID)
}

// checkpoint keeps the checkpoints.
func (c *chunk) checkpoint(ctx context.Context, q model.Querier, now coltype.Time, connection model.Connection, run *string) error {
	if len(c.checkpoints) == 0 {
		return nil
	}
	text, err := json.Marshal(c.checkpoints)
	if err != nil {
		return err
	}
	_, err = q.CheckpointSetMany(ctx, model.CheckpointSetManyParams{
		ConnectionID: connection.ID, OwnerID: connection.OwnerID, RunID: run, Now: now, Rows: string(text),
	})
	if err != nil {
		return fmt.Errorf("keep checkpoints: %w", err)
	}
	return nil
}

// streamsOf are the streams of the changes, each once and sorted.
func streamsOf(changes []change) []string {
	seen := map[string]bool{}
	var names []string
	for _, c := range changes {
		if !seen[c.stream] {
			seen[c.stream] = true
			names = append(names, c.stream)
		}
	}
	slices.Sort(names)
	return names
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

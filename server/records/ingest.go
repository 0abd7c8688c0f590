package records

import (
	"context"
	"errors"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/ndjson"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// Tally is what became of the lines of a body, up to the one before Lines.
type Tally struct {
	Accepted, Unchanged, Checkpoints, Refused int64
	Named                                     []Rejected // the first MaxNamed of the refused lines
	Lines                                     int64      // that are durable, blank ones too
}

// add counts a chunk that ends with the line of that index.
func (t *Tally) add(w Written, index int64) {
	t.Accepted += w.Accepted
	t.Unchanged += w.Unchanged
	t.Checkpoints += w.Checkpoints
	t.Refused += int64(len(w.Rejected))
	room := MaxNamed - len(t.Named)
	t.Named = append(t.Named, w.Rejected[:min(room, len(w.Rejected))]...)
	t.Lines = index + 1
}

// ingest writes bodies, chunk by chunk.
type ingest struct {
	store    *store.Store
	lines    int             // of a chunk
	draining <-chan struct{} // closed when this replica stops
	cut      func(Tally)     // called after each chunk of a batch; tests end the process there
}

func newIngest(a *web.API, s *store.Store) *ingest {
	return &ingest{store: s, lines: MaxChunkLines, draining: a.Draining(), cut: func(Tally) {}}
}

// stopped is the fault that ends a body between two chunks: this replica stops, and
// another one takes the rest.
func (g *ingest) stopped() error {
	select {
	case <-g.draining:
		return fault.Draining()
	default:
		return nil
	}
}

// parser makes the lines of a chunk of their bytes, prepared to be written.
type parser func(ctx context.Context, chunk []ndjson.Item) ([]Line, error)

// stream writes the lines of a body as they arrive. Its error is a fault that tells
// how many lines are durable.
func (g *ingest) stream(ctx context.Context, to Target, items ndjson.Items, parse parser) (Tally, error) {
	c, tally := &chunks{items: items, lines: g.lines}, Tally{}
	for {
		chunk, last, err := c.next()
		if err == nil && len(chunk) > 0 {
			err = g.write(ctx, to, chunk, parse, &tally)
		}
		if err == nil && !last {
			err = g.stopped()
		}
		if err != nil {
			return tally, interrupted(err, tally)
		}
		if last {
			return tally, nil
		}
	}
}

// write writes one chunk in a transaction of its own.
func (g *ingest) write(ctx context.Context, to Target, chunk []ndjson.Item, parse parser, tally *Tally) error {
	lines, err := parse(ctx, chunk)
	if err != nil {
		return err
	}
	var done Written
	err = g.store.Tx(ctx, func(q model.Querier) (err error) {
		now, err := g.store.TxTime()
		if err == nil {
			done, err = Write(ctx, q, now, to, lines)
		}
		return err
	})
	if err == nil {
		tally.add(done, chunk[len(chunk)-1].Index)
	}
	return err
}

// interrupted is the fault that ended a body. Whatever is not known is taken to pass:
// lines are written once, however often they are sent.
func interrupted(err error, tally Tally) error {
	var f *fault.Fault
	if b, ok := errors.AsType[*ndjson.Broken](err); ok {
		f = fault.Unparsable(b.Error())
	} else if !errors.As(store.Explain(err), &f) {
		f = fault.Unavailable("The lines could not be written; sending the body again is safe.").Because(err)
	}
	told := *f
	told.Detail += fmt.Sprintf(" Durable lines: %d.", tally.Lines)
	return told.With("durable_lines", tally.Lines)
}

// admissible tells, before a body is read, whether its lines would be refused
// altogether.
func admissible(ctx context.Context, q model.Reader, c model.Connection, to Target) error {
	if c.Status == sources.Revoked {
		return fault.ConnectionRevoked(c.ID)
	}
	if to.RunID == "" {
		return nil
	}
	run, err := runs.Get(ctx, q, to.OwnerID, to.RunID)
	switch {
	case err != nil:
		return err
	case run.ConnectionID == nil || *run.ConnectionID != c.ID:
		return fault.NotFound()
	case run.Status != runs.Running || run.Generation == nil || *run.Generation != to.Generation:
		return fault.RunNotActive(run.ID, run.Status)
	}
	return nil
}

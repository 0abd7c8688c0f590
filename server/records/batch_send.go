package records

import (
	"context"
	"io"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/ndjson"
	"github.com/stint-run/stint/server/store"
)

// sending is a batch with what its sending needs.
type sending struct {
	*batch
	split  func(io.Reader) ndjson.Items
	parse  parser
	answer func(Tally) ([]byte, error)
	renew  func() // begins the request's time anew, after each chunk
}

// send writes a batch once, whatever became of earlier sendings, and returns the
// answer, and whether an earlier one had it. The body is read whole and held against its hash before anything is
// written. An accepted batch has its answer, whatever became of the connection since.
func (g *ingest) send(ctx context.Context, s sending, c model.Connection, body io.Reader) (answer []byte, replayed bool, err error) {
	row, err := s.find(ctx, g.store)
	if err != nil {
		return nil, false, err
	}
	if row == nil || row.State == BatchProcessing {
		if err := admissible(ctx, g.store, c, s.Target); err != nil {
			return nil, false, err
		}
	}
	file, hash, err := spool(body)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	if hash != s.hash {
		return nil, false, fault.HashMismatch(hash)
	}
	if row, err = g.take(ctx, s.batch); err != nil {
		return nil, false, err
	}
	if row.State == BatchAccepted {
		return []byte(*row.Answer), true, nil
	}
	tally, err := tallyOf(row)
	if err != nil {
		return nil, false, err
	}
	answer, err = g.resume(ctx, s, file, &tally)
	if err != nil {
		g.release(ctx, s.batch)
		return nil, false, interrupted(err, tally)
	}
	return answer, false, nil
}

func (g *ingest) take(ctx context.Context, b *batch) (row *model.IngestBatch, err error) {
	mark := ""
	if g.store.Engine() == store.SQLite {
		mark = process // the file has one server: whoever held a batch before this process is gone
	}
	err = g.store.Tx(ctx, func(q model.Querier) error {
		now, err := g.store.TxTime()
		if err == nil {
			row, err = b.take(ctx, q, now, mark)
		}
		return err
	})
	return row, err
}

// resume writes the lines behind the durable prefix, and accepts the batch with the
// last chunk.
func (g *ingest) resume(ctx context.Context, s sending, body io.Reader, tally *Tally) (answer []byte, err error) {
	c := &chunks{items: s.split(body), lines: g.lines}
	if err := c.skip(tally.Lines); err != nil {
		return nil, err
	}
	for {
		chunk, last, err := c.next()
		if err != nil {
			return nil, err
		}
		if answer, err = g.writeOf(ctx, s, chunk, last, tally); err != nil || last {
			return answer, err
		}
		g.cut(*tally)
		s.renew()
		if err := g.stopped(); err != nil {
			return nil, err
		}
	}
}

// writeOf writes a chunk of a batch, with the durable prefix that it moves on; with
// the last one it accepts the batch.
func (g *ingest) writeOf(ctx context.Context, s sending, chunk []ndjson.Item, last bool, tally *Tally) (answer []byte, err error) {
	lines, err := s.parse(ctx, chunk)
	if err != nil {
		return nil, err
	}
	var after Tally
	err = g.store.Tx(ctx, func(q model.Querier) error {
		after = *tally
		now, err := g.store.TxTime()
		if err != nil {
			return err
		}
		done, err := Write(ctx, q, now, s.Target, lines) // also of no lines: the run and the connection must take them
		if err == nil && len(lines) > 0 {
			after.add(done, lines[len(lines)-1].Index)
			err = s.advance(ctx, q, now, *tally, after)
		}
		if err != nil || !last {
			return err
		}
		if answer, err = s.answer(after); err != nil {
			return err
		}
		return s.accept(ctx, q, now, after, answer)
	})
	if err == nil {
		*tally = after
	}
	return answer, err
}

// release runs also for a request that was given up. Where it fails, the lease runs
// out.
func (g *ingest) release(ctx context.Context, b *batch) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = g.store.Tx(ctx, func(q model.Querier) error {
		now, err := g.store.TxTime()
		if err == nil {
			err = b.release(ctx, q, now)
		}
		return err
	})
}

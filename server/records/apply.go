package records

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// apply makes the changes, in their order, in partitions that the transaction
// holds.
func apply(ctx context.Context, q model.Querier, now coltype.Time, h *held, changes []change) (accepted, unchanged int64, err error) {
	f, err := foldAll(ctx, q, h, changes)
	if err == nil {
		err = f.write(ctx, q, now)
	}
	return f.n, f.unchanged, err
}

// foldAll takes the changes in memory: nothing is written. Whatever changes a
// record comes through here: it is where versions and counts are made.
func foldAll(ctx context.Context, q model.Querier, h *held, changes []change) (*fold, error) {
	f := &fold{held: h, records: make(map[identity]*record, len(changes))}
	if len(changes) == 0 {
		return f, nil
	}
	rows, err := current(ctx, q, h, changes)
	if err != nil {
		return f, err
	}
	f.know(rows)
	for _, c := range changes {
		f.take(c)
	}
	return f, nil
}

// current are the rows of the records that the changes name.
func current(ctx context.Context, q model.Querier, h *held, changes []change) ([]model.RecordListByKeysRow, error) {
	type keyRow struct {
		Stream string `json:"stream"`
		Key    string `json:"key"`
	}
	keys := make([]keyRow, len(changes))
	for i, c := range changes {
		keys[i] = keyRow{c.stream, c.key}
	}
	slices.SortFunc(keys, func(a, b keyRow) int { return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Key, b.Key)) })
	text, err := json.Marshal(slices.Compact(keys))
	if err != nil {
		return nil, err
	}
	rows, err := q.RecordListByKeys(ctx, model.RecordListByKeysParams{Rows: string(text), ConnectionID: h.connectionID, OwnerID: h.ownerID})
	if err != nil {
		return nil, fmt.Errorf("look up records: %w", err)
	}
	return rows, nil
}

// write writes what the changes came to. From where the owner's sequence is taken
// on, all other writers of the owner wait: what needs no number comes before.
func (f *fold) write(ctx context.Context, q model.Querier, now coltype.Time) error {
	w := &writer{ctx: ctx, q: q, now: now, held: f.held}
	w.seen(f)
	w.days()
	if f.n > 0 && w.err == nil {
		seq, err := takeSeq(ctx, q, f.held.ownerID, f.n)
		if err != nil {
			return err
		}
		f.shift(seq.Seq - f.n)
	}
	w.versions(f)
	w.records(f)
	w.partitions()
	if w.err != nil {
		return fmt.Errorf("write records: %w", w.err)
	}
	return nil
}

// takeSeq takes n numbers of the owner.
func takeSeq(ctx context.Context, q model.Querier, ownerID string, n int64) (model.OwnerSeq, error) {
	seq, err := q.OwnerSeqTake(ctx, model.OwnerSeqTakeParams{OwnerID: ownerID, N: n, Epoch: rand.Int64()})
	if err != nil {
		return seq, fmt.Errorf("take numbers of the owner: %w", err)
	}
	return seq, nil
}

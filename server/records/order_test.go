package records_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/records"
)

// watched notes the order of some statements of a transaction.
type watched struct {
	model.Querier
	order []string
}

func (w *watched) OwnerSeqTake(ctx context.Context, arg model.OwnerSeqTakeParams) (model.OwnerSeq, error) {
	w.order = append(w.order, "numbers")
	return w.Querier.OwnerSeqTake(ctx, arg)
}

func (w *watched) DayCountAddMany(ctx context.Context, arg model.DayCountAddManyParams) (int64, error) {
	w.order = append(w.order, "days")
	return w.Querier.DayCountAddMany(ctx, arg)
}

func (w *watched) RecordSetSeen(ctx context.Context, arg model.RecordSetSeenParams) (int64, error) {
	w.order = append(w.order, "seen")
	return w.Querier.RecordSetSeen(ctx, arg)
}

func (w *watched) CheckpointSetMany(ctx context.Context, arg model.CheckpointSetManyParams) (int64, error) {
	w.order = append(w.order, "checkpoints")
	return w.Querier.CheckpointSetMany(ctx, arg)
}

func (w *watched) HeadIngested(ctx context.Context, arg model.HeadIngestedParams) (int64, error) {
	w.order = append(w.order, "heads")
	return w.Querier.HeadIngested(ctx, arg)
}

// The owner's other writers wait from where the numbers are taken on: what needs
// none is written before.
func TestNumbersAreTakenBehindWhatNeedsNone(t *testing.T) {
	each(t, func(f *fixture) {
		f.write(`{"stream":"notes","data":{"id":"same"}}`)
		to := f.refresh()
		w := &watched{}
		f.Tx(func(q model.Querier) error {
			w.Querier, w.order = q, nil
			_, err := records.Write(f.Context(), w, f.Now, to, lines(`{"stream":"notes","data":{"id":"same"}}`,
				`{"stream":"notes","data":{"id":"new","at":"2024-05-06"}}`, `{"stream":"notes","checkpoint":1}`))
			return err
		})
		if want := []string{"checkpoints", "heads", "seen", "days", "numbers"}; !slices.Equal(w.order, want) {
			f.Errorf("the order is %q, want %q", w.order, want)
		}
	})
}

package jobs

import (
	"context"
	"errors"
	"sort"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
)

// Finished is what became of one item of FinishAll.
type Finished struct {
	Outcome
	Fault *fault.Fault // of this item alone
}

// FinishAll ends many claims in the transaction of q, and answers in the order
// of items. Jobs are locked in the order of their ids, so two batches never
// wait for each other.
func FinishAll(ctx context.Context, q model.Querier, now coltype.Time, items []FinishIn) ([]Finished, error) {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return items[order[a]].ID < items[order[b]].ID })
	out := make([]Finished, len(items))
	for _, i := range order {
		outcome, err := Finish(ctx, q, now, items[i])
		if err != nil && !errors.As(err, &out[i].Fault) {
			return nil, err
		}
		out[i].Outcome = outcome
	}
	return out, nil
}

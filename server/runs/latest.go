package runs

import (
	"context"
	"fmt"
	"math"

	"github.com/stint-run/stint/gen/model"
)

// Heads are the runs of a connection that people ask for first; "" is none.
type Heads struct {
	Active    string // the running one
	Latest    string
	Settled   string // the latest that ended
	Succeeded string // the latest that succeeded, with gaps or without
}

// walkRuns is how many runs of a connection are read at a time.
const walkRuns = 500

// Latest finds the heads of a connection among its runs, the latest generation
// first: clocks may have been set back between two runs. It reads on until one has
// succeeded: connection_heads has the same at once.
func Latest(ctx context.Context, q model.Reader, connectionID string) (h Heads, err error) {
	before := int64(math.MaxInt64)
	for h.Succeeded == "" {
		rows, err := q.RunWalkOfConnection(ctx, model.RunWalkOfConnectionParams{ConnectionID: &connectionID, BeforeGeneration: &before, Max: walkRuns})
		if err != nil {
			return h, fmt.Errorf("find the latest runs of %s: %w", connectionID, err)
		}
		for _, r := range rows {
			h.take(r)
			before = *r.Generation
		}
		if len(rows) < walkRuns {
			return h, nil
		}
	}
	return h, nil
}

// take looks at the run before those that it has seen.
func (h *Heads) take(r model.RunWalkOfConnectionRow) {
	first := func(head *string, is bool) {
		if *head == "" && is {
			*head = r.ID
		}
	}
	first(&h.Active, r.Status == Running)
	first(&h.Latest, true)
	first(&h.Settled, r.Status != Running)
	first(&h.Succeeded, r.Status == Succeeded || r.Status == SucceededWithGaps)
}

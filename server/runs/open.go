package runs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/id"
)

// Attempt is a job that was just claimed.
type Attempt struct {
	JobID      string
	Attempt    int64
	LeaseToken string
	DeadlineAt coltype.Time // zero: it may take as long as its lease is renewed
}

// attemptRow is one element of RunInsertMany's @rows.
type attemptRow struct {
	ID         string `json:"id"`
	JobID      string `json:"job_id"`
	Attempt    int64  `json:"attempt"`
	TokenHash  string `json:"token_hash"`
	DeadlineAt *int64 `json:"deadline_at"` // microseconds
}

// Open opens a run for each attempt, in the transaction of the claim, and
// returns the runs' ids in the same order.
func Open(ctx context.Context, q model.Querier, now coltype.Time, ownerID, worker string, attempts []Attempt) ([]string, error) {
	rows := make([]attemptRow, len(attempts))
	ids := make([]string, len(attempts))
	for i, a := range attempts {
		ids[i] = id.New("run")
		rows[i] = attemptRow{ID: ids[i], JobID: a.JobID, Attempt: a.Attempt, TokenHash: TokenHash(a.LeaseToken)}
		if !a.DeadlineAt.IsZero() {
			at := a.DeadlineAt.UnixMicro()
			rows[i].DeadlineAt = &at
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	n, err := q.RunInsertMany(ctx, model.RunInsertManyParams{OwnerID: ownerID, Worker: worker, Now: now, Rows: string(text)})
	if err != nil {
		return nil, fmt.Errorf("open runs: %w", err)
	}
	if n != int64(len(rows)) {
		return nil, fmt.Errorf("open runs: %d of %d rows", n, len(rows))
	}
	return ids, nil
}

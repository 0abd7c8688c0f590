package jobs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// AppendLog adds to what the attempt under a lease printed. A lease that ran out
// but was not yet taken back still counts; any other token gets lease_lost and
// changes nothing.
func AppendLog(ctx context.Context, q model.Querier, now coltype.Time, in runs.AppendIn) (runs.Appended, error) {
	done, err := runs.Append(ctx, q, now, in)
	if store.NotFound(err) {
		return runs.Appended{}, lost(ctx, q, in.OwnerID, in.JobID)
	}
	if err != nil {
		return runs.Appended{}, fmt.Errorf("append to the log of %s: %w", in.JobID, err)
	}
	return done, nil
}

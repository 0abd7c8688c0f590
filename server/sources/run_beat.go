package sources

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
)

// BeatIn is a heartbeat of a run of a connection.
type BeatIn struct {
	runs.RenewIn
	FullRefresh []string // further streams that the run reads whole, from now on; each once
}

// Heartbeat extends the lease of a run of a connection and returns its end. A lease
// that ran out is renewed as long as the run has not been ended for it. One who has
// an older generation, or whose run has ended, gets a fault and changes nothing.
func Heartbeat(ctx context.Context, q model.Querier, now coltype.Time, in BeatIn) (coltype.Time, error) {
	end, renewed, err := runs.Renew(ctx, q, now, in.RenewIn)
	if err != nil || renewed && len(in.FullRefresh) == 0 {
		return end, err
	}
	run, err := runs.Get(ctx, q, in.OwnerID, in.ID)
	if err != nil {
		return end, err
	}
	if !renewed {
		return end, refused(ctx, q, now, run, in.Generation)
	}
	c, err := Lock(ctx, q, in.OwnerID, *run.ConnectionID)
	if err != nil {
		return end, err
	}
	return end, beginRefresh(ctx, q, now, c, refreshIn{RunID: run.ID, Generation: in.Generation, Streams: in.FullRefresh})
}

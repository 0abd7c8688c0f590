package ops

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

// workerJSON is who claims or finishes jobs, by the name it gives itself.
type workerJSON struct {
	Name        string       `json:"name"`
	FirstSeenAt coltype.Time `json:"first_seen_at"`
	LastSeenAt  coltype.Time `json:"last_seen_at" doc:"When it last claimed, sent a heartbeat or finished a job; to the minute."`
	Claimed     claimedCount `json:"claimed_jobs"`
}

// claimedCount is how many jobs a worker holds.
type claimedCount struct {
	Value   int64 `json:"value"`
	AtLeast bool  `json:"at_least" doc:"The owner has more than 2,000 claimed jobs; only the newest of them were counted."`
}

// worker is a worker, and the jobs it holds.
type worker struct {
	model.Worker
	claimed claimedCount
}

// listedWorkers is an owner's workers, by name.
var listedWorkers = web.ListOf[web.PageQuery, worker, workerJSON]{
	Kind: "workers", Order: web.Oldest,
	Page: func(ctx context.Context, q model.Reader, _ *web.PageQuery, w web.Window) ([]worker, *keyset.Position, error) {
		owner := web.Caller(ctx).OwnerID
		page, next, err := control.SeenWorkers.Page(ctx, q, owner, w.Position, w.Limit)
		if err != nil {
			return nil, nil, err
		}
		holders, more, err := jobs.Holders(ctx, q, owner)
		return keyset.Convert(page, func(r model.Worker) worker { return worker{r, claimedCount{holders[r.Name], more}} }), next, err
	},
	Item: func(w worker, _ coltype.Time) workerJSON {
		return workerJSON{Name: w.Name, FirstSeenAt: w.FirstSeenAt, LastSeenAt: w.LastSeenAt, Claimed: w.claimed}
	},
}

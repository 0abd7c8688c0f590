package ops

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

type workersInput struct {
	web.PageQuery
}

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

// workers lists by name: the cursor's place is the last name of the page before.
func (h *routes) workers(ctx context.Context, q model.Reader, _ coltype.Time, in *workersInput) (*web.Page[workerJSON], error) {
	w, err := h.api.Window(ctx, in.PageQuery, "workers", web.Oldest)
	if err != nil {
		return nil, err
	}
	owner := web.Caller(ctx).OwnerID
	rows, err := q.WorkerPage(ctx, model.WorkerPageParams{OwnerID: owner, AfterName: w.ID, Max: w.Fetch()})
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	holders, more, err := jobs.Holders(ctx, q, owner)
	if err != nil {
		return nil, err
	}
	page, next := keyset.Cut(rows, int(w.Limit), func(r model.Worker) keyset.Position { return keyset.Position{At: r.FirstSeenAt, ID: r.Name} })
	return web.NewPage(w, keyset.Convert(page, func(r model.Worker) workerJSON {
		return workerJSON{Name: r.Name, FirstSeenAt: r.FirstSeenAt, LastSeenAt: r.LastSeenAt, Claimed: claimedCount{holders[r.Name], more}}
	}), next), nil
}

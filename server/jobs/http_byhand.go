package jobs

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/web"
)

// byHandAnswer is the job after an action of a person.
type byHandAnswer struct {
	Job jobJSON `json:"job"`
}

func (h *routes) cancel(ctx context.Context, q model.Querier, now coltype.Time, in *idInput) (web.Answer[byHandAnswer], error) {
	return h.byHand(ctx, q, now, in, Cancel)
}

func (h *routes) retry(ctx context.Context, q model.Querier, now coltype.Time, in *idInput) (web.Answer[byHandAnswer], error) {
	return h.byHand(ctx, q, now, in, Retry)
}

// byHand runs an action for the caller, who is recorded by the token's name.
func (h *routes) byHand(ctx context.Context, q model.Querier, now coltype.Time, in *idInput,
	act func(context.Context, model.Querier, coltype.Time, ByHandIn) (model.Job, error),
) (web.Answer[byHandAnswer], error) {
	caller := web.Caller(ctx)
	job, err := act(ctx, q, now, ByHandIn{OwnerID: caller.OwnerID, ID: in.ID, Actor: caller.TokenName})
	if err != nil {
		return web.Answer[byHandAnswer]{}, err
	}
	return web.Answer[byHandAnswer]{
		Body:  byHandAnswer{Job: jobOf(job)},
		After: func() { h.hub.WakeFor(job) },
	}, nil
}

package jobs

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

type listInput struct {
	web.PageQuery
	State  string `query:"state" enum:"pending,claimed,succeeded,failed,cancelled"`
	Kind   string `query:"kind"`
	RepoID string `query:"repo_id"`
	Key    string `query:"key" maxLength:"512"`
}

func (h *routes) list(ctx context.Context, q model.Reader, _ coltype.Time, in *listInput) (*web.Page[jobJSON], error) {
	w, err := h.api.Window(ctx, in.PageQuery, "jobs", web.Newest)
	if err != nil {
		return nil, err
	}
	page, next, err := List(ctx, q, ListIn{
		OwnerID: web.Caller(ctx).OwnerID, State: in.State, Kind: in.Kind, RepoID: in.RepoID, Key: in.Key,
		Before: w.Position, Limit: int(w.Limit),
	})
	if err != nil {
		return nil, err
	}
	return web.NewPage(w, keyset.Convert(page, listedOf), next), nil
}

type idInput struct {
	ID string `path:"id"`
}

func (h *routes) get(ctx context.Context, q model.Reader, _ coltype.Time, in *idInput) (*jobJSON, error) {
	job, err := Get(ctx, q, web.Caller(ctx).OwnerID, in.ID)
	if err != nil {
		return nil, err
	}
	out := jobOf(job)
	return &out, nil
}

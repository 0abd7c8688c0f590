package jobs

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/web"
)

type listInput struct {
	web.PageQuery
	State  string `query:"state" enum:"pending,claimed,succeeded,failed,cancelled"`
	Kind   string `query:"kind"`
	RepoID string `query:"repo_id"`
	Key    string `query:"key" maxLength:"512"`
}

var listed = web.ListOf[listInput, model.Job, jobJSON]{
	Kind: "jobs", Order: web.Newest, Item: listedOf,
	Page: web.PageOf(List, func(ownerID string, in *listInput) ListIn {
		return ListIn{OwnerID: ownerID, State: in.State, Kind: in.Kind, RepoID: in.RepoID, Key: in.Key}
	}),
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

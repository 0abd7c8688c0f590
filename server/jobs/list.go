package jobs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/store"
)

// Get is one job of an owner.
func Get(ctx context.Context, q model.Reader, ownerID, jobID string) (model.Job, error) {
	job, err := q.JobGet(ctx, model.JobGetParams{ID: jobID, OwnerID: ownerID})
	if store.NotFound(err) {
		return model.Job{}, fault.NotFound()
	}
	if err != nil {
		return model.Job{}, fmt.Errorf("get %s: %w", jobID, err)
	}
	return job, nil
}

// ListIn selects an owner's jobs. An empty member does not filter.
type ListIn struct {
	OwnerID string
	State   string
	Kind    string
	RepoID  string
	Key     string
}

var (
	byKey   = keyset.Leading[model.JobWalkRow](func(in ListIn) string { return in.Key }) // no job changes its key
	byState = keyset.Equal(func(in ListIn) string { return in.State }, func(e model.JobWalkRow) string { return e.State })
	byKind  = keyset.Equal(func(in ListIn) string { return in.Kind }, func(e model.JobWalkRow) string { return e.Kind })
	byRepo  = keyset.Equal(func(in ListIn) string { return in.RepoID }, func(e model.JobWalkRow) string { return deref(e.RepoID) })
)

// List is an owner's jobs, newest first.
var List = keyset.List[model.Reader, ListIn, model.Job, model.JobWalkRow]{
	Name:    "jobs",
	Filters: keyset.Filters(byKey, byState, byKind, byRepo),
	Leads: []keyset.Lead[model.Reader, ListIn, model.Job, model.JobWalkRow]{
		{By: keyset.Filters(byKey), Page: keyset.Statement(ofKey, model.Reader.JobPageByKey), Walk: keyset.Statement(ofKey, model.Reader.JobWalkByKey)},
		{By: keyset.Filters(byState), Page: keyset.Statement(ofState, model.Reader.JobPageByState), Walk: keyset.Statement(ofState, model.Reader.JobWalkByState)},
		{Page: keyset.Statement(ofOwner, model.Reader.JobPage), Walk: keyset.Statement(ofOwner, model.Reader.JobWalk)},
	},
	At: func(e model.JobWalkRow) keyset.Position { return keyset.Position{At: e.CreatedAt, ID: e.ID} },
	Entry: func(j model.Job) model.JobWalkRow {
		return model.JobWalkRow{ID: j.ID, Kind: j.Kind, State: j.State, RepoID: j.RepoID, CreatedAt: j.CreatedAt}
	},
	ByIDs: func(ctx context.Context, q model.Reader, in ListIn, ids string) ([]model.Job, error) {
		return q.JobListByIDs(ctx, model.JobListByIDsParams{OwnerID: in.OwnerID, Ids: ids})
	},
}

func ofKey(in ListIn, from keyset.Position, max int64) model.JobPageByKeyParams {
	return model.JobPageByKeyParams{OwnerID: in.OwnerID, Key: &in.Key, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

func ofState(in ListIn, from keyset.Position, max int64) model.JobPageByStateParams {
	return model.JobPageByStateParams{OwnerID: in.OwnerID, State: in.State, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

func ofOwner(in ListIn, from keyset.Position, max int64) model.JobPageParams {
	return model.JobPageParams{OwnerID: in.OwnerID, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

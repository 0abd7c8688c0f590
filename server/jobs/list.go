package jobs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/store"
)

// ListIn selects an owner's jobs, newest first. An empty member does not
// filter. Key, else State, leads an index; the rest is residual (keyset.Walk).
type ListIn struct {
	OwnerID string
	State   string
	Kind    string
	RepoID  string
	Key     string
	Before  keyset.Position
	Limit   int
}

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

// List is one page; next is nil on the last one. One statement reads it, two
// when a filter is residual.
func List(ctx context.Context, q model.Reader, in ListIn) (page []model.Job, next *keyset.Position, err error) {
	if in.residual() {
		page, next, err = in.filtered(ctx, q)
	} else {
		var rows []model.Job
		rows, err = in.page(ctx, q, int64(in.Limit)+1)
		page, next = keyset.Cut(rows, in.Limit, position)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list jobs: %w", err)
	}
	return page, next, nil
}

// residual reports whether a filter is set that the page's index does not lead
// with.
func (in ListIn) residual() bool {
	return in.Kind != "" || in.RepoID != "" || (in.Key != "" && in.State != "")
}

// keep is the whole filter but the key, which a walk holds to and no job changes.
func (in ListIn) keep(e model.JobWalkRow) bool {
	return (in.Kind == "" || e.Kind == in.Kind) &&
		(in.State == "" || e.State == in.State) &&
		(in.RepoID == "" || deref(e.RepoID) == in.RepoID)
}

// filtered is the page along a walk.
func (in ListIn) filtered(ctx context.Context, q model.Reader) ([]model.Job, *keyset.Position, error) {
	walk, err := in.walk(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	return keyset.Filter[model.JobWalkRow, model.Job]{
		Keep: in.keep,
		At:   func(e model.JobWalkRow) keyset.Position { return keyset.Position{At: e.CreatedAt, ID: e.ID} },
		Rows: func(ids string) ([]model.Job, error) {
			return q.JobListByIDs(ctx, model.JobListByIDsParams{OwnerID: in.OwnerID, Ids: ids})
		},
		Entry: func(j model.Job) model.JobWalkRow {
			return model.JobWalkRow{ID: j.ID, Kind: j.Kind, State: j.State, RepoID: j.RepoID, CreatedAt: j.CreatedAt}
		},
	}.Page(walk, in.Limit)
}

// page reads max jobs along the index that the filter leads with.
func (in ListIn) page(ctx context.Context, q model.Reader, max int64) ([]model.Job, error) {
	at := model.JobPageParams{OwnerID: in.OwnerID, BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: max}
	switch {
	case in.Key != "":
		return q.JobPageByKey(ctx, model.JobPageByKeyParams{OwnerID: at.OwnerID, Key: &in.Key, BeforeAt: at.BeforeAt, BeforeID: at.BeforeID, Max: max})
	case in.State != "":
		return q.JobPageByState(ctx, model.JobPageByStateParams{OwnerID: at.OwnerID, State: in.State, BeforeAt: at.BeforeAt, BeforeID: at.BeforeID, Max: max})
	}
	return q.JobPage(ctx, at)
}

// walk reads keyset.Walk entries along the same index.
func (in ListIn) walk(ctx context.Context, q model.Reader) ([]model.JobWalkRow, error) {
	at := model.JobWalkParams{OwnerID: in.OwnerID, BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: keyset.Walk}
	switch {
	case in.Key != "":
		return q.JobWalkByKey(ctx, model.JobWalkByKeyParams{OwnerID: at.OwnerID, Key: &in.Key, BeforeAt: at.BeforeAt, BeforeID: at.BeforeID, Max: at.Max})
	case in.State != "":
		return q.JobWalkByState(ctx, model.JobWalkByStateParams{OwnerID: at.OwnerID, State: in.State, BeforeAt: at.BeforeAt, BeforeID: at.BeforeID, Max: at.Max})
	}
	return q.JobWalk(ctx, at)
}

func position(j model.Job) keyset.Position { return keyset.Position{At: j.CreatedAt, ID: j.ID} }

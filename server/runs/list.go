package runs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/store"
)

// ListIn selects an owner's runs, newest first. An empty member does not
// filter. JobID, else Status (the recorded one), leads an index; the rest is
// residual (keyset.Walk).
type ListIn struct {
	OwnerID string
	JobID   string
	Status  string
	Kind    string
	Before  keyset.Position
	Limit   int
}

// Get is one run of an owner.
func Get(ctx context.Context, q model.Reader, ownerID, runID string) (Run, error) {
	run, err := q.RunGet(ctx, model.RunGetParams{ID: runID, OwnerID: ownerID})
	if store.NotFound(err) {
		return Run{}, fault.NotFound()
	}
	if err != nil {
		return Run{}, fmt.Errorf("get %s: %w", runID, err)
	}
	return run, nil
}

// List is one page; next is nil on the last one. One statement reads it, two
// when a filter is residual.
func List(ctx context.Context, q model.Reader, in ListIn) (page []Run, next *keyset.Position, err error) {
	if in.residual() {
		page, next, err = in.filtered(ctx, q)
	} else {
		var rows []Run
		rows, err = in.page(ctx, q, int64(in.Limit)+1)
		page, next = keyset.Cut(rows, in.Limit, position)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list runs: %w", err)
	}
	return page, next, nil
}

// residual reports whether a filter is set that the page's index does not lead
// with.
func (in ListIn) residual() bool {
	return in.Kind != "" || (in.JobID != "" && in.Status != "")
}

// keep is the whole filter but the job, which a walk holds to and no run changes.
func (in ListIn) keep(e model.RunWalkRow) bool {
	return (in.Kind == "" || e.Kind == in.Kind) && (in.Status == "" || e.Status == in.Status)
}

// filtered is the page along a walk.
func (in ListIn) filtered(ctx context.Context, q model.Reader) ([]Run, *keyset.Position, error) {
	walk, err := in.walk(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	return keyset.Filter[model.RunWalkRow, Run]{
		Keep: in.keep,
		At:   func(e model.RunWalkRow) keyset.Position { return keyset.Position{At: e.CreatedAt, ID: e.ID} },
		Rows: func(ids string) ([]Run, error) {
			return q.RunListByIDs(ctx, model.RunListByIDsParams{OwnerID: in.OwnerID, Ids: ids})
		},
		Entry: func(r Run) model.RunWalkRow {
			return model.RunWalkRow{ID: r.ID, Kind: r.Kind, Status: r.Status, CreatedAt: r.CreatedAt}
		},
	}.Page(walk, in.Limit)
}

// page reads max runs along the index that the filter leads with.
func (in ListIn) page(ctx context.Context, q model.Reader, max int64) ([]Run, error) {
	switch {
	case in.JobID != "":
		return q.RunPageByJob(ctx, model.RunPageByJobParams{OwnerID: in.OwnerID, JobID: &in.JobID, BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: max})
	case in.Status != "":
		return q.RunPageByStatus(ctx, model.RunPageByStatusParams{OwnerID: in.OwnerID, Status: in.Status, BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: max})
	}
	return q.RunPage(ctx, model.RunPageParams{OwnerID: in.OwnerID, BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: max})
}

// walk reads keyset.Walk entries along the same index.
func (in ListIn) walk(ctx context.Context, q model.Reader) ([]model.RunWalkRow, error) {
	switch {
	case in.JobID != "":
		return q.RunWalkByJob(ctx, model.RunWalkByJobParams{OwnerID: in.OwnerID, JobID: &in.JobID, BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: keyset.Walk})
	case in.Status != "":
		return q.RunWalkByStatus(ctx, model.RunWalkByStatusParams{OwnerID: in.OwnerID, Status: in.Status, BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: keyset.Walk})
	}
	return q.RunWalk(ctx, model.RunWalkParams{OwnerID: in.OwnerID, BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: keyset.Walk})
}

func position(r Run) keyset.Position { return keyset.Position{At: r.CreatedAt, ID: r.ID} }

package runs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/store"
)

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

// ListIn selects an owner's runs. An empty member does not filter; Status is the
// recorded one.
type ListIn struct {
	OwnerID string
	JobID   string
	Status  string
	Kind    string
}

var (
	byJob    = keyset.Leading[model.RunWalkRow](func(in ListIn) string { return in.JobID }) // no run changes its job
	byStatus = keyset.Equal(func(in ListIn) string { return in.Status }, func(e model.RunWalkRow) string { return e.Status })
	byKind   = keyset.Equal(func(in ListIn) string { return in.Kind }, func(e model.RunWalkRow) string { return e.Kind })
)

// List is an owner's runs, newest first.
var List = keyset.List[model.Reader, ListIn, Run, model.RunWalkRow]{
	Name:    "runs",
	Filters: keyset.Filters(byJob, byStatus, byKind),
	Leads: []keyset.Lead[model.Reader, ListIn, Run, model.RunWalkRow]{
		{By: keyset.Filters(byJob), Page: keyset.Statement(ofJob, model.Reader.RunPageByJob), Walk: keyset.Statement(ofJob, model.Reader.RunWalkByJob)},
		{By: keyset.Filters(byStatus), Page: keyset.Statement(ofStatus, model.Reader.RunPageByStatus), Walk: keyset.Statement(ofStatus, model.Reader.RunWalkByStatus)},
		{Page: keyset.Statement(ofOwner, model.Reader.RunPage), Walk: keyset.Statement(ofOwner, model.Reader.RunWalk)},
	},
	At: func(e model.RunWalkRow) keyset.Position { return keyset.Position{At: e.CreatedAt, ID: e.ID} },
	Entry: func(r Run) model.RunWalkRow {
		return model.RunWalkRow{ID: r.ID, Kind: r.Kind, Status: r.Status, CreatedAt: r.CreatedAt}
	},
	ByIDs: func(ctx context.Context, q model.Reader, in ListIn, ids string) ([]Run, error) {
		return q.RunListByIDs(ctx, model.RunListByIDsParams{OwnerID: in.OwnerID, Ids: ids})
	},
}

func ofJob(in ListIn, from keyset.Position, max int64) model.RunPageByJobParams {
	return model.RunPageByJobParams{OwnerID: in.OwnerID, JobID: &in.JobID, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

func ofStatus(in ListIn, from keyset.Position, max int64) model.RunPageByStatusParams {
	return model.RunPageByStatusParams{OwnerID: in.OwnerID, Status: in.Status, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

func ofOwner(in ListIn, from keyset.Position, max int64) model.RunPageParams {
	return model.RunPageParams{OwnerID: in.OwnerID, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

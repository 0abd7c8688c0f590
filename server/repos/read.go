package repos

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// Counted is a repository with its proposals by state, each up to
// web.MaxCount + 1.
type Counted = model.RepoGetCountedRow

// RepoDetail is a repository with its proposals counted and its old names, the
// latest first.
type RepoDetail struct {
	Counted
	OldNames []model.RepoName
}

// maxOldNames bounds the old names that are shown.
const maxOldNames = 50

// Get is one repository of an owner.
func Get(ctx context.Context, q model.Reader, ownerID, repoID string) (RepoDetail, error) {
	repo, err := q.RepoGetCounted(ctx, model.RepoGetCountedParams{ID: repoID, OwnerID: ownerID, Counted: web.MaxCount + 1})
	if store.NotFound(err) {
		return RepoDetail{}, fault.NotFound()
	}
	if err != nil {
		return RepoDetail{}, fmt.Errorf("get %s: %w", repoID, err)
	}
	names, err := q.RepoNameList(ctx, model.RepoNameListParams{RepoID: repoID, Max: maxOldNames})
	if err != nil {
		return RepoDetail{}, fmt.Errorf("list old names of %s: %w", repoID, err)
	}
	return RepoDetail{Counted: repo, OldNames: names}, nil
}

// known is not_found unless the owner has that repository.
func known(ctx context.Context, q model.Reader, ownerID, repoID string) error {
	_, err := q.RepoGet(ctx, model.RepoGetParams{ID: repoID, OwnerID: ownerID})
	if store.NotFound(err) {
		return fault.NotFound()
	}
	if err != nil {
		return fmt.Errorf("look up %s: %w", repoID, err)
	}
	return nil
}

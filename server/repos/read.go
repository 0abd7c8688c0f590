package repos

import (
	"context"
	"fmt"
	"strings"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// Counted is a repository with its proposals by state, each up to
// web.MaxCount + 1.
type Counted = model.RepoGetCountedRow

// Get is one repository of an owner, with its proposals counted.
func Get(ctx context.Context, q model.Reader, ownerID, repoID string) (Counted, error) {
	repo, err := q.RepoGetCounted(ctx, model.RepoGetCountedParams{ID: repoID, OwnerID: ownerID, Counted: web.MaxCount + 1})
	if store.NotFound(err) {
		return Counted{}, fault.NotFound()
	}
	if err != nil {
		return Counted{}, fmt.Errorf("get %s: %w", repoID, err)
	}
	return repo, nil
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

// ListIn selects an owner's repositories, newest first. An empty member does not
// filter; case does not count. Namespace and Name together lead an index; the
// rest is residual (keyset.Walk).
type ListIn struct {
	OwnerID string
	Ref
	Before keyset.Position
	Limit  int
}

// List is one page, read by one statement; next is nil on the last one. Rows are
// small, so that a walk reads them whole.
func List(ctx context.Context, q model.Reader, in ListIn) (page []model.Repo, next *keyset.Position, err error) {
	if in.residual() {
		walk, err := in.page(ctx, q, keyset.Walk)
		if err != nil {
			return nil, nil, err
		}
		page, next = keyset.Sift(walk, in.Limit, in.keep, repoPosition)
		return page, next, nil
	}
	rows, err := in.page(ctx, q, int64(in.Limit)+1)
	if err != nil {
		return nil, nil, err
	}
	page, next = keyset.Cut(rows, in.Limit, repoPosition)
	return page, next, nil
}

func (in ListIn) named() bool { return in.Namespace != "" && in.Name != "" }

// residual reports whether a filter is set that the page's index does not lead
// with.
func (in ListIn) residual() bool {
	return in.Forge != "" || in.Host != "" || !in.named() && (in.Namespace != "" || in.Name != "")
}

// page reads max repositories along the index that the filter leads with.
func (in ListIn) page(ctx context.Context, q model.Reader, max int64) (rows []model.Repo, err error) {
	if in.named() {
		rows, err = q.RepoPageByName(ctx, model.RepoPageByNameParams{
			OwnerID: in.OwnerID, FullName: in.Namespace + "/" + in.Name, BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: max,
		})
	} else {
		rows, err = q.RepoPage(ctx, model.RepoPageParams{OwnerID: in.OwnerID, BeforeAt: in.Before.At, BeforeID: in.Before.ID, Max: max})
	}
	if err != nil {
		return nil, fmt.Errorf("list repositories: %w", err)
	}
	return rows, nil
}

// keep is the whole filter.
func (in ListIn) keep(r model.Repo) bool {
	return (in.Forge == "" || r.Forge == in.Forge) &&
		(in.Host == "" || r.Host == strings.ToLower(in.Host)) &&
		(in.Namespace == "" || strings.EqualFold(r.Namespace, in.Namespace)) &&
		(in.Name == "" || strings.EqualFold(r.Name, in.Name))
}

func repoPosition(r model.Repo) keyset.Position { return keyset.Position{At: r.CreatedAt, ID: r.ID} }

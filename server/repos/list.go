package repos

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/keyset"
)

// ListIn selects an owner's repositories. An empty member does not filter; case
// does not count.
type ListIn struct {
	OwnerID string
	Ref
}

var (
	byForge     = keyset.Equal(func(in ListIn) string { return in.Forge }, func(r model.Repo) string { return r.Forge })
	byHost      = keyset.Equal(func(in ListIn) string { return hostOf(in.Host) }, func(r model.Repo) string { return hostOf(r.Host) })
	byNamespace = keyset.Equal(func(in ListIn) string { return strings.ToLower(in.Namespace) }, func(r model.Repo) string { return strings.ToLower(r.Namespace) })
	byName      = keyset.Equal(func(in ListIn) string { return strings.ToLower(in.Name) }, func(r model.Repo) string { return strings.ToLower(r.Name) })
)

// List is an owner's repositories, newest first. Rows are small, so that a walk
// reads them whole.
var List = keyset.Whole(keyset.List[model.Reader, ListIn, model.Repo, model.Repo]{
	Name:    "repositories",
	Filters: keyset.Filters(byForge, byHost, byNamespace, byName),
	Leads: []keyset.Lead[model.Reader, ListIn, model.Repo, model.Repo]{
		{By: keyset.Filters(byNamespace, byName), Page: keyset.Statement(ofFullName, model.Reader.RepoPageByName), Walk: keyset.Statement(ofFullName, model.Reader.RepoPageByName)},
		{Page: keyset.Statement(ofOwner, model.Reader.RepoPage), Walk: keyset.Statement(ofOwner, model.Reader.RepoPage)},
	},
	At: func(r model.Repo) keyset.Position { return keyset.Position{At: r.CreatedAt, ID: r.ID} },
})

// hostOf is a host in the spelling that counts: also one that an earlier release
// kept in another.
func hostOf(host string) string {
	host, _ = normalHost(host)
	return host
}

// Page is a page of List. A namespace and name that no repository has finds those
// that had it: there are at most as many as forges and hosts that it had the name
// on.
func Page(ctx context.Context, q model.Reader, in ListIn, from keyset.Position, limit int) ([]model.Repo, *keyset.Position, error) {
	page, next, err := List.Page(ctx, q, in, from, limit)
	if err != nil || len(page) > 0 || next != nil || from.ID != keyset.Top().ID || in.Namespace == "" || in.Name == "" {
		return page, next, err
	}
	page, err = hadName(ctx, q, in, limit)
	return page, nil, err
}

func hadName(ctx context.Context, q model.Reader, in ListIn, limit int) ([]model.Repo, error) {
	rows, err := q.RepoNameListByName(ctx, model.RepoNameListByNameParams{OwnerID: in.OwnerID, FullName: in.Namespace + "/" + in.Name, Max: int64(limit)})
	if err != nil {
		return nil, fmt.Errorf("list repositories that had the name %s/%s: %w", in.Namespace, in.Name, err)
	}
	page := []model.Repo{}
	for _, row := range rows {
		repo, was := row.Repo, Ref{Forge: row.NamedForge, Host: row.NamedHost}
		known := slices.ContainsFunc(page, func(r model.Repo) bool { return r.ID == repo.ID })
		if !known && (in.Forge == "" || in.Forge == was.Forge) && (in.Host == "" || hostOf(in.Host) == was.Host) {
			page = append(page, repo)
		}
	}
	return page, nil
}

func ofFullName(in ListIn, from keyset.Position, max int64) model.RepoPageByNameParams {
	return model.RepoPageByNameParams{OwnerID: in.OwnerID, FullName: in.Namespace + "/" + in.Name, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

func ofOwner(in ListIn, from keyset.Position, max int64) model.RepoPageParams {
	return model.RepoPageParams{OwnerID: in.OwnerID, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

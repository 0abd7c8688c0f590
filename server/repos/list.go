package repos

import (
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
	byHost      = keyset.Equal(func(in ListIn) string { return strings.ToLower(in.Host) }, func(r model.Repo) string { return r.Host })
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

func ofFullName(in ListIn, from keyset.Position, max int64) model.RepoPageByNameParams {
	return model.RepoPageByNameParams{OwnerID: in.OwnerID, FullName: in.Namespace + "/" + in.Name, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

func ofOwner(in ListIn, from keyset.Position, max int64) model.RepoPageParams {
	return model.RepoPageParams{OwnerID: in.OwnerID, BeforeAt: from.At, BeforeID: from.ID, Max: max}
}

package repos

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/web"
)

// renameBody is what changes of a repository's name.
type renameBody struct {
	Forge     *string `json:"forge,omitempty" enum:"github,gitea,forgejo,gitlab"`
	Host      *string `json:"host,omitempty" minLength:"1" doc:"As in POST."`
	Namespace *string `json:"namespace,omitempty" minLength:"1"`
	Name      *string `json:"name,omitempty" minLength:"1"`
}

type renameInput struct {
	Repo string `path:"repo"`
	Body renameBody
}

// Faults is a body that changes nothing. Those of the new name are told by
// Rename, which knows the members that stay.
func (in *renameInput) Faults() []fault.Item {
	if in.Body == (renameBody{}) {
		return []fault.Item{{Pointer: "", Detail: "expected one of forge, host, namespace and name"}}
	}
	return nil
}

// renamedJSON answers a renaming.
type renamedJSON struct {
	Repo        repoJSON `json:"repo"`
	RekeyedJobs int64    `json:"rekeyed_jobs" doc:"How many live jobs have another key since."`
}

// renameWith handles the route that renames a repository.
func renameWith(rename Renamer) func(context.Context, model.Querier, coltype.Time, *renameInput) (web.Answer[renamedJSON], error) {
	return func(ctx context.Context, q model.Querier, now coltype.Time, in *renameInput) (web.Answer[renamedJSON], error) {
		b := in.Body
		got, err := rename(ctx, q, now, RenameIn{
			OwnerID: web.Caller(ctx).OwnerID, RepoID: in.Repo, Forge: b.Forge, Host: b.Host, Namespace: b.Namespace, Name: b.Name,
		})
		if err != nil {
			return web.Answer[renamedJSON]{}, err
		}
		return web.Answer[renamedJSON]{Body: renamedJSON{Repo: repoOf(got.Repo), RekeyedJobs: got.Rekeyed}, After: got.After}, nil
	}
}

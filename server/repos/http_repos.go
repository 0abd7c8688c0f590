package repos

import (
	"context"
	"net/http"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

// repoJSON is a repository as clients see it.
type repoJSON struct {
	ID             string       `json:"id"`
	Forge          string       `json:"forge" enum:"github,gitea,forgejo,gitlab"`
	Host           string       `json:"host"`
	Namespace      string       `json:"namespace" doc:"In the spelling that came first."`
	Name           string       `json:"name" doc:"In the spelling that came first."`
	DefaultStream  *string      `json:"default_stream" nullable:"true"`
	LabelsSyncedAt coltype.Time `json:"labels_synced_at" nullable:"true" doc:"Nothing sets it yet."`
	CreatedAt      coltype.Time `json:"created_at"`
	UpdatedAt      coltype.Time `json:"updated_at"`
}

func repoOf(r model.Repo) repoJSON {
	return repoJSON{
		ID: r.ID, Forge: r.Forge, Host: r.Host, Namespace: r.Namespace, Name: r.Name, DefaultStream: r.DefaultStream,
		LabelsSyncedAt: r.LabelsSyncedAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
}

// oldNameJSON is a name that a repository had.
type oldNameJSON struct {
	Forge      string       `json:"forge" enum:"github,gitea,forgejo,gitlab"`
	Host       string       `json:"host"`
	Namespace  string       `json:"namespace" doc:"In lower case."`
	Name       string       `json:"name" doc:"In lower case."`
	ReplacedAt coltype.Time `json:"replaced_at" doc:"When it was renamed from it."`
}

// countedRepoJSON is a repository with its proposals counted, and its old names.
type countedRepoJSON struct {
	repoJSON
	Proposals proposalCountsJSON `json:"proposals"`
	OldNames  []oldNameJSON      `json:"old_names" doc:"Names that mean this repository too, the latest 50, the latest first."`
}

// proposalCountsJSON are the proposals of a repository, by state.
type proposalCountsJSON struct {
	Open   web.Count `json:"open"`
	Merged web.Count `json:"merged"`
	Closed web.Count `json:"closed"`
}

func countedOf(d RepoDetail) *countedRepoJSON {
	out := &countedRepoJSON{repoJSON: repoOf(d.Counted.Repo), Proposals: proposalCountsJSON{
		Open: web.Counted(d.OpenProposals), Merged: web.Counted(d.MergedProposals), Closed: web.Counted(d.ClosedProposals),
	}}
	out.OldNames = keyset.Convert(d.OldNames, func(n model.RepoName) oldNameJSON {
		return oldNameJSON{Forge: n.Forge, Host: n.Host, Namespace: n.Namespace, Name: n.Name, ReplacedAt: n.ReplacedAt}
	})
	return out
}

type trackInput struct {
	Body struct {
		Forge         string  `json:"forge" enum:"github,gitea,forgejo,gitlab"`
		Host          string  `json:"host,omitempty" minLength:"1" doc:"Default github.com and gitlab.com; required for gitea and forgejo. Case does not count, nor does a port 443, 80 or 22."`
		Namespace     string  `json:"namespace" minLength:"1" doc:"The forge's owner or group. Case does not count."`
		Name          string  `json:"name" minLength:"1" doc:"Case does not count."`
		DefaultStream *string `json:"default_stream,omitempty" minLength:"1" doc:"Where proposals usually go, such as main."`
	}
}

func (in *trackInput) ref() (Ref, []fault.Item) {
	return Ref{Forge: in.Body.Forge, Host: in.Body.Host, Namespace: in.Body.Namespace, Name: in.Body.Name}.Normal()
}

// Faults are those of the name, and of a stream that looks like another.
func (in *trackInput) Faults() []fault.Item {
	_, faults := in.ref()
	return append(faults, unclear("/default_stream", in.Body.DefaultStream)...)
}

// trackedJSON answers a tracking.
type trackedJSON struct {
	Repo         repoJSON `json:"repo"`
	Deduplicated bool     `json:"deduplicated" doc:"The repository was tracked before."`
}

func track(ctx context.Context, q model.Querier, now coltype.Time, in *trackInput) (web.Answer[trackedJSON], error) {
	ref, _ := in.ref()
	got, err := Track(ctx, q, now, TrackIn{OwnerID: web.Caller(ctx).OwnerID, Ref: ref, DefaultStream: in.Body.DefaultStream})
	if err != nil {
		return web.Answer[trackedJSON]{}, err
	}
	out := web.Answer[trackedJSON]{Body: trackedJSON{Repo: repoOf(got.Repo), Deduplicated: got.Deduplicated}}
	if got.Deduplicated {
		out.Status = http.StatusOK
	}
	return out, nil
}

type reposInput struct {
	web.PageQuery
	Forge     string `query:"forge" enum:"github,gitea,forgejo,gitlab"`
	Host      string `query:"host" doc:"In any spelling that POST takes."`
	Namespace string `query:"namespace" doc:"Case does not count. With name it is found at once, among however many."`
	Name      string `query:"name" doc:"Case does not count."`
}

func (in *reposInput) ref() Ref {
	return Ref{Forge: in.Forge, Host: in.Host, Namespace: in.Namespace, Name: in.Name}
}

// Faults are names that no forge allows: nothing is found under them.
func (in *reposInput) Faults() (faults []fault.Item) {
	items := in.ref().illegal(false)
	if _, legal := normalHost(in.Host); !legal && in.Host != "" {
		items = append(items, fault.Item{Pointer: "/host", Detail: badHost})
	}
	for _, item := range items {
		faults = append(faults, fault.Item{In: fault.InQuery, Pointer: item.Pointer, Detail: item.Detail})
	}
	return faults
}

var listedRepos = web.ListOf[reposInput, model.Repo, repoJSON]{
	Kind: "repos", Order: web.Newest,
	Page: func(ctx context.Context, q model.Reader, in *reposInput, w web.Window) ([]model.Repo, *keyset.Position, error) {
		return Page(ctx, q, ListIn{OwnerID: web.Caller(ctx).OwnerID, Ref: in.ref()}, w.Position, w.Limit)
	},
	Item: func(r model.Repo, _ coltype.Time) repoJSON { return repoOf(r) },
}

type repoInput struct {
	Repo string `path:"repo"`
}

func getRepo(ctx context.Context, q model.Reader, _ coltype.Time, in *repoInput) (*countedRepoJSON, error) {
	repo, err := Get(ctx, q, web.Caller(ctx).OwnerID, in.Repo)
	if err != nil {
		return nil, err
	}
	return countedOf(repo), nil
}

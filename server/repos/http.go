package repos

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/server/web"
)

// Routes adds the routes of repositories and proposals to the API.
func Routes(a *web.API, rename Renamer) {
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/repos", ID: "track-repo", Summary: "Track a repository",
		Description: "201 is a new one; 200 was tracked before, in whatever case, or had that name before. A default_stream replaces the one it had.",
		Scope:       web.ScopeReposWrite, Status: http.StatusCreated, Also: []int{http.StatusOK}}, track)
	web.List(a, web.Op{Path: "/v1/repos", ID: "list-repos", Summary: "List repositories, newest first",
		Description: "Looks one up by its name: case does not count in host, namespace and name. With namespace and name, a name that no repository has finds those that had it.",
		Scope:       web.ScopeReposRead}, listedRepos)
	web.Read(a, web.Op{Method: http.MethodGet, Path: "/v1/repos/{repo}", ID: "get-repo", Summary: "Get a repository, with its proposals counted",
		Scope: web.ScopeReposRead}, getRepo)
	web.Write(a, web.Op{Method: http.MethodPatch, Path: "/v1/repos/{repo}", ID: "rename-repo", Summary: "Rename a repository, or move it to another host",
		Description: "Members that are absent stay. The live jobs of its issues get the keys that follow from the new name, and the old name goes on to mean this repository.",
		Scope:       web.ScopeReposWrite, Faults: []string{"name_in_use", "too_many_live_jobs", "older_replica"}}, renameWith(rename))

	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/repos/{repo}/proposals", ID: "create-proposal", Summary: "Open a proposal",
		Description: "At most one proposal of a stream and head is open. 201 is a new one; 200 met the open one, which stays as it is.",
		Tag:         tagProposals, Scope: web.ScopeReposWrite, Status: http.StatusCreated, Also: []int{http.StatusOK}}, create)
	web.List(a, web.Op{Path: "/v1/repos/{repo}/proposals", ID: "list-proposals", Summary: "List the proposals of a repository, newest first",
		Tag: tagProposals, Scope: web.ScopeReposRead}, listedProposals)
	web.Read(a, web.Op{Method: http.MethodGet, Path: "/v1/proposals/{id}", ID: "get-proposal", Summary: "Get a proposal, its transitions and the run behind it",
		Scope: web.ScopeReposRead}, getProposal)
	web.Write(a, move("merge", "Note that an open proposal was merged"), moveTo(Merged))
	web.Write(a, move("close", "Close an open proposal"), moveTo(Closed))
	web.Write(a, move("reopen", "Reopen a closed proposal", "key_in_use"), moveTo(Open))
}

const tagProposals = "proposals"

// move is a route that brings a proposal into another state.
func move(action, summary string, faults ...string) web.Op {
	return web.Op{Method: http.MethodPost, Path: "/v1/proposals/{id}/" + action, ID: action + "-proposal", Summary: summary,
		Scope: web.ScopeReposWrite, Faults: append(faults, "state_conflict", "precondition_failed", "precondition_required")}
}

// Schema is that of the members, and null: huma has no null beside a reference.
func (proposalRunJSON) Schema(r huma.Registry) *huma.Schema {
	type members proposalRunJSON
	s := huma.SchemaFromType(r, reflect.TypeFor[members]())
	s.Nullable, s.AdditionalProperties = true, nil
	state := s.Properties["job_state"]
	state.Enum = append(state.Enum, nil)
	return s
}

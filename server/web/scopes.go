package web

import (
	"slices"
	"strconv"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
)

// Scopes of a token. ScopeAdmin holds every other one.
const (
	ScopeAdmin        = control.ScopeAdmin
	ScopeJobsEnqueue  = "jobs:enqueue"  // enqueue, cancel, retry
	ScopeJobsWork     = "jobs:work"     // claim, heartbeat, finish
	ScopeJobsRead     = "jobs:read"     // jobs, runs, kinds
	ScopeKindsWrite   = "kinds:write"   // kinds
	ScopeReposRead    = "repos:read"    // repos, proposals
	ScopeReposWrite   = "repos:write"   // repos, proposals
	ScopeSourcesRead  = "sources:read"  // connectors, connections
	ScopeSourcesWrite = "sources:write" // connectors, connections
	ScopeRecordsRead  = "records:read"  // record lists
	ScopeRecordsWrite = "records:write" // ingest
	ScopeRunsWrite    = "runs:write"    // runs of outside runners
	ScopeExplore      = "explore"       // the timeline
	ScopeTokensWrite  = "tokens:write"  // tokens
	ScopeOpsRead      = "ops:read"      // leases, workers, overview
)

// Scopes lists every scope there is.
var Scopes = []string{
	ScopeAdmin, ScopeJobsEnqueue, ScopeJobsWork, ScopeJobsRead, ScopeKindsWrite,
	ScopeReposRead, ScopeReposWrite, ScopeSourcesRead, ScopeSourcesWrite,
	ScopeRecordsRead, ScopeRecordsWrite, ScopeRunsWrite, ScopeExplore,
	ScopeTokensWrite, ScopeOpsRead,
}

// ParseScopes is the sorted set of the scopes named, or a 422 of ScopeFaults.
func ParseScopes(pointer string, names []string) ([]string, error) {
	if items := ScopeFaults(pointer, names); items != nil {
		return nil, fault.Invalid(items...)
	}
	return slices.Sorted(slices.Values(names)), nil
}

// ScopeFaults are the faults of a set of scopes: an unknown one, a repeated one,
// or none at all. Their pointers begin with pointer.
func ScopeFaults(pointer string, names []string) (items []fault.Item) {
	if len(names) == 0 {
		items = append(items, fault.Item{Pointer: pointer, Detail: "at least one scope is needed"})
	}
	for i, name := range names {
		at := pointer + "/" + strconv.Itoa(i)
		if !slices.Contains(Scopes, name) {
			items = append(items, fault.Item{Pointer: at, Detail: "no such scope"})
		} else if slices.Contains(names[:i], name) {
			items = append(items, fault.Item{Pointer: at, Detail: "the scope is named twice"})
		}
	}
	return items
}

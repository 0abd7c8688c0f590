// The closed lists of words of the product. Each stands in constraints of both schemas, in Go, in the API's documents and in their
// TypeScript types; here they are compared.
package server_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// constrained are the words that a constraint allows.
var constrained = map[string][]string{
	"jobs_state_check":                jobs.States,
	"jobs_waiting_for_check":          jobs.WaitingFor,
	"jobs_finished_check":             {jobs.Succeeded, jobs.Failed, jobs.Cancelled},
	"runs_kind_check":                 runs.Kinds,
	"runs_status_check":               runs.Statuses,
	"runs_origin_check":               runs.Origins,
	"repos_forge_check":               repos.Forges,
	"repo_names_forge_check":          repos.Forges,
	"proposals_state_check":           repos.States,
	"proposal_transitions_from_check": repos.States,
	"proposal_transitions_to_check":   repos.States,
	"tokens_kind_check":               control.TokenKinds,

	"connections_status_check":                sources.Statuses,
	"connections_source_kind_check":           sources.Kinds,
	"connection_tombstones_source_kind_check": sources.Kinds,
	"connector_streams_semantics_check":       sources.Semantics,
	"ingest_batches_state_check":              records.BatchStates,
	"partitions_refresh_state_check":          records.RefreshStates,
	"records_dated_by_check":                  records.DatedBy,
	"record_versions_dated_by_check":          records.DatedBy,
}

// shownStatuses are those of a run as a person sees it: one that is recorded as running is in progress, or failed.
var shownStatuses = append([]string{runs.InProgress}, runs.Statuses[1:]...)

// documented are the words that a member of a schema or a parameter may be.
var documented = map[string][]string{
	"Job.state":                            jobs.States,
	"Job.waiting_for":                      jobs.WaitingFor,
	"Claimed.state":                        jobs.States,
	"Claimed.waiting_for":                  jobs.WaitingFor,
	"ProposalDetail.run.job_state":         jobs.States,
	"get /v1/jobs state":                   jobs.States,
	"EnqueueBody.on_duplicate":             {"replace", "keep"},
	"HeartbeatAnswer.directive":            {"continue", "cancel", "drain"},
	"Run.status":                           shownStatuses,
	"ProposalDetail.run.status":            shownStatuses,
	"get /v1/runs status":                  runs.Statuses,
	"Run.kind":                             runs.Kinds,
	"ProposalDetail.run.kind":              runs.Kinds,
	"get /v1/runs kind":                    runs.Kinds,
	"StartRunRequest.kind":                 runs.ConnectionKinds,
	"FinishRunRequest.status":              runs.Ends,
	"Change.op":                            records.Ops,
	"Rejection.code":                       records.RefusalCodes,
	"RejectionDetail.code":                 records.RefusalCodes,
	"Run.origin":                           runs.Origins,
	"Repo.forge":                           repos.Forges,
	"CountedRepo.forge":                    repos.Forges,
	"RepoBody.forge":                       repos.Forges,
	"TrackRepoRequest.forge":               repos.Forges,
	"RenameBody.forge":                     repos.Forges,
	"OldName.forge":                        repos.Forges,
	"get /v1/repos forge":                  repos.Forges,
	"Proposal.state":                       repos.States,
	"ProposalDetail.state":                 repos.States,
	"Transition.from_state":                repos.States,
	"Transition.to_state":                  repos.States,
	"get /v1/repos/{repo}/proposals state": repos.States,
	"Token.kind":                           control.TokenKinds,

	"Connection.status":              sources.Statuses,
	"Connection.source_kind":         sources.Kinds,
	"ConnectionDetail.status":        sources.Statuses,
	"ConnectionDetail.source_kind":   sources.Kinds,
	"ConnectionBody.source_kind":     sources.Kinds,
	"ConnectionBody.status":          {sources.Draft, sources.Active},
	"Stream.semantics":               sources.Semantics,
	"StreamState.semantics":          sources.Semantics,
	"ConnectorDetail.manifest_state": {"current", "unavailable"},
	"Ingested.state":                 records.BatchStates,
	"RecordLine.op":                  records.Ops,
	"Rejected.code":                  records.RefusalCodes,

	"Whoami.kind": control.TokenKinds,
	"Item.in":     {fault.InBody, fault.InQuery, fault.InPath, fault.InHeader},
}

func TestConstraintsAllowTheWordsOfGo(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		text := dbtest.Get[string](t, s, map[string]string{
			store.SQLite:   `select group_concat(sql, char(10)) from sqlite_master where type = 'table'`,
			store.Postgres: `select string_agg('constraint ' || conname || ' ' || pg_get_constraintdef(oid), E'\n') from pg_constraint where contype = 'c'`,
		}[s.Engine()])
		got := map[string][]string{}
		for _, m := range regexp.MustCompile(`(?i)constraint (\w+) check (.*)`).FindAllStringSubmatch(text, -1) {
			var words []string
			for _, word := range regexp.MustCompile(`'([a-z_]+)'`).FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(words, word[1]) {
					words = append(words, word[1])
				}
			}
			if len(words) > 1 { // one alone is a condition of something else
				got[m[1]] = words
			}
		}
		sameWords(t, got, constrained)
	})
}

func TestDocumentsHaveTheWordsOfGo(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../gen/openapi.json", "../gen/openapi-3.0.json"} {
		sameWords(t, wordsOf(t, path), documented)
	}
}

// A machine without npm cannot make the types anew; that they are those of the document is told by its checksum.
func TestTypesAreOfTheDocumentAndHaveItsWords(t *testing.T) {
	t.Parallel()
	document, types := read(t, "../gen/openapi.json"), read(t, "../gen/types.ts")
	sum := sha256.Sum256(document)
	if want := "// sha256 of openapi.json: " + hex.EncodeToString(sum[:]) + "\n"; !strings.HasPrefix(string(types), want) {
		t.Error("gen/types.ts is of another document: run make gen-types, which needs npm")
	}
	want, got := map[string]int{}, map[string]int{} // in how many places
	for _, words := range documented {
		want[`"`+strings.Join(words, `" | "`)+`"`]++
	}
	for _, union := range regexp.MustCompile(`"\w+"(?: \| "\w+")+`).FindAllString(string(types), -1) {
		got[union]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the words of gen/types.ts (-Go +types.ts):\n%s", diff)
	}
}

func sameWords(t *testing.T, got, want map[string][]string) {
	t.Helper()
	for place, words := range got {
		if !slices.Equal(words, want[place]) {
			t.Errorf("%s has %q, this test %q", place, words, want[place])
		}
	}
	for place := range want {
		if got[place] == nil {
			t.Errorf("%s has no words", place)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// wordsOf are the lists of words of a document, by where they stand: "Schema.member" or "method /path parameter".
func wordsOf(t *testing.T, path string) map[string][]string {
	t.Helper()
	var document struct {
		Components struct{ Schemas map[string]any }
		Paths      map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema any
			}
		}
	}
	if err := json.Unmarshal(read(t, path), &document); err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for name, schema := range document.Components.Schemas {
		collect(found, name, schema)
	}
	for route, methods := range document.Paths {
		for method, operation := range methods {
			for _, p := range operation.Parameters {
				collect(found, method+" "+route+" "+p.Name, p.Schema)
			}
		}
	}
	return found
}

// collect notes the words of a schema and of what is in it. That null is allowed is no word.
func collect(found map[string][]string, place string, schema any) {
	node, _ := schema.(map[string]any)
	words, _ := node["enum"].([]any)
	for _, word := range words {
		if word, ok := word.(string); ok {
			found[place] = append(found[place], word)
		}
	}
	members, _ := node["properties"].(map[string]any)
	for name, member := range members {
		collect(found, place+"."+name, member)
	}
	if items, ok := node["items"]; ok {
		collect(found, place+"[]", items)
	}
}

package jobs

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// routes is what the handlers share.
type routes struct {
	store    *store.Store
	hub      *Hub
	workers  *control.Workers
	stopping <-chan struct{}
	turn     atomic.Uint64 // looks of this process; rotates the kinds
	floors   *Floors
	fits     *Fits
}

// kindNames are the names a kind may have.
var kindNames = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,62}$`)

// kindText is a kind's name within a body.
type kindText string

// Schema holds it to kindNames.
func (kindText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Pattern: kindNames.String(),
		PatternDescription: "a lower-case letter, then up to 62 of a-z 0-9 _ . -",
	}
}

// timeoutSetting is a time limit that may be absent, or null for none.
type timeoutSetting struct {
	given   bool
	seconds *int64
}

func (s *timeoutSetting) UnmarshalJSON(b []byte) error {
	s.given = true
	return json.Unmarshal(b, &s.seconds)
}

func (timeoutSetting) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Nullable: true}
}

// Routes adds the queue's routes to the API.
func Routes(a *web.API, s *store.Store, hub *Hub, workers *control.Workers) {
	h := &routes{store: s, hub: hub, workers: workers, stopping: a.Draining(), floors: NewFloors(), fits: NewFits()}

	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/jobs", ID: "enqueue-job", Summary: "Enqueue a job",
		Description: "An upsert: at most one job per key (or issue) is live. 201 is a new job; 200 met the live one.",
		Scope:       web.ScopeJobsEnqueue, Status: http.StatusCreated, Also: []int{http.StatusOK}, Faults: []string{"key_in_use"}}, h.enqueue)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/jobs/batch", ID: "enqueue-jobs", Summary: "Enqueue up to 1,000 jobs",
		Description: "One transaction. A fault of shape in any item refuses the whole batch; conflicts are told per item.",
		Scope:       web.ScopeJobsEnqueue, MaxBody: web.BatchLimit}, h.enqueueBatch)
	web.List(a, web.Op{Path: "/v1/jobs", ID: "list-jobs", Summary: "List jobs, newest first", Scope: web.ScopeJobsRead}, listed)
	web.Read(a, web.Op{Method: http.MethodGet, Path: "/v1/jobs/{id}", ID: "get-job", Summary: "Get a job", Scope: web.ScopeJobsRead}, h.get)

	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/jobs/claim", ID: "claim-jobs", Summary: "Claim due jobs under a lease",
		Description: "The most urgent first. The attempt is counted and a run opened. An answer without jobs is not kept under an Idempotency-Key.",
		Scope:       web.ScopeJobsWork, Faults: []string{"draining"}}, h.claim, h.claimHooks())
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/jobs/complete", ID: "complete-jobs", Summary: "Complete up to 1,000 jobs",
		Scope: web.ScopeJobsWork, MaxBody: web.BatchLimit}, h.completeBatch)
	web.Write(a, h.work("heartbeat", "heartbeat-job", "Extend the lease of a job"), h.heartbeat)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/jobs/{id}/log", ID: "append-job-log", Summary: "Append to what an attempt printed",
		Description: "Of the attempt that holds the lease. A repeated append changes nothing.",
		Scope:       web.ScopeJobsWork, Faults: []string{"lease_lost"}, NoIdempotency: true}, h.appendLog)
	web.Write(a, h.work("complete", "complete-job", "Finish a job: it succeeded"), h.complete)
	web.Write(a, h.work("fail", "fail-job", "Finish an attempt: it failed"), h.fail)
	web.Write(a, h.work("snooze", "snooze-job", "Give a job back until later; the attempt does not count"), h.snooze)
	web.Write(a, h.work("release", "release-job", "Give a job back at once; the attempt does not count"), h.release)

	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/jobs/{id}/cancel", ID: "cancel-job", Summary: "Cancel a job",
		Description: "A pending job ends. The holder of a claimed one is asked to stop, by its next heartbeat.",
		Scope:       web.ScopeJobsEnqueue, Faults: []string{"state_conflict"}}, h.cancel)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/jobs/{id}/retry", ID: "retry-job", Summary: "Retry a job by hand",
		Description: "A failed or cancelled job begins again at attempt 0; one in backoff runs at once.",
		Scope:       web.ScopeJobsEnqueue, Faults: []string{"state_conflict", "key_in_use"}}, h.retry)

	web.List(a, web.Op{Path: "/v1/kinds", ID: "list-kinds", Summary: "List kinds of job, by name", Scope: web.ScopeJobsRead}, listedKinds)
	web.Read(a, web.Op{Method: http.MethodGet, Path: "/v1/kinds/{name}", ID: "get-kind", Summary: "Get a kind", Scope: web.ScopeJobsRead}, h.kind)
	web.Write(a, web.Op{Method: http.MethodPut, Path: "/v1/kinds/{name}", ID: "put-kind", Summary: "Set a kind's lease, attempts, backoff and time limit",
		Description: "201 registers an unknown kind. A known one needs If-Match.",
		Scope:       web.ScopeKindsWrite, Also: []int{http.StatusCreated}, Faults: []string{"precondition_failed", "precondition_required"}}, h.putKind)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/kinds/{name}/pause", ID: "pause-kind", Summary: "Hold a kind back from claims",
		Scope: web.ScopeKindsWrite}, h.pauseKind)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/kinds/{name}/resume", ID: "resume-kind", Summary: "Let a paused kind be claimed again",
		Scope: web.ScopeKindsWrite}, h.resumeKind)
}

// work is a route that the holder of a lease calls.
func (h *routes) work(action, id, summary string) web.Op {
	return web.Op{Method: http.MethodPost, Path: "/v1/jobs/{id}/" + action, ID: id, Summary: summary,
		Scope: web.ScopeJobsWork, Faults: []string{"lease_lost", "state_conflict"}}
}

func (h *routes) draining() bool {
	select {
	case <-h.stopping:
		return true
	default:
		return false
	}
}

// Loops are the passes of the queue; the reaper's come every so often.
func Loops(hub *Hub, reapEvery time.Duration, log *slog.Logger) []control.Loop {
	reap := func(ctx context.Context, s *store.Store) (int, error) { return ReapAll(ctx, s, hub, log) }
	return []control.Loop{
		{Name: "run-reaper", Every: reapEvery, Run: reap, Batch: reapMost, Lease: true},
	}
}

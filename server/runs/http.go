package runs

import (
	"context"
	"net/http"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/web"
)

// Wire is a run as clients see it.
type Wire = runJSON

type runJSON struct {
	ID               string       `json:"id"`
	Kind             string       `json:"kind" enum:"job,scheduled,manual,browser,webhook"`
	Status           string       `json:"status" enum:"in_progress,succeeded,succeeded_with_gaps,failed,cancelled,abandoned,skipped" doc:"in_progress: running under a live lease. A run whose lease ran out shows failed until it is recorded as abandoned."`
	JobID            *string      `json:"job_id" nullable:"true"`
	ConnectionID     *string      `json:"connection_id" nullable:"true"`
	ExternalRunID    *string      `json:"external_run_id" nullable:"true"`
	Attempt          *int64       `json:"attempt" nullable:"true" doc:"Of the job. Runs may share one: a snooze or release gives it back."`
	Worker           *string      `json:"worker" nullable:"true"`
	Generation       *int64       `json:"generation" nullable:"true"`
	TerminalReason   *string      `json:"terminal_reason" nullable:"true"`
	Error            coltype.JSON `json:"error"`
	Warning          *string      `json:"warning" nullable:"true" doc:"What its worker remarked when it finished the attempt."`
	Facts            coltype.JSON `json:"facts"`
	Progress         coltype.JSON `json:"progress"`
	SchedulerManaged bool         `json:"scheduler_managed"`
	Origin           string       `json:"origin" enum:"live,backfill,import"`
	CreatedAt        coltype.Time `json:"created_at"`
	StartedAt        coltype.Time `json:"started_at"`
	CompletedAt      coltype.Time `json:"completed_at" nullable:"true"`
	DeadlineAt       coltype.Time `json:"deadline_at" nullable:"true" doc:"When the attempt must be over. Null: it has no time limit."`
	LeaseExpiresAt   coltype.Time `json:"lease_expires_at" nullable:"true" doc:"Of a run of a connection: until when it is taken to be alive without a heartbeat. Null for a run of a job, which has the job's lease."`
	Omitted          []string     `json:"omitted" doc:"Members over 4 KiB that a list leaves out."`
}

// WireOf is what clients see of a run, whole.
func WireOf(r Run, now coltype.Time) Wire {
	out := runJSON{
		ID: r.ID, Kind: r.Kind, Status: Shown(r, now), JobID: r.JobID, ConnectionID: r.ConnectionID,
		ExternalRunID: r.ExternalRunID, Attempt: r.Attempt, Worker: r.Worker, Generation: r.Generation,
		TerminalReason: r.TerminalReason, Error: r.Error, Warning: r.Warning, Facts: r.Facts, Progress: r.Progress,
		SchedulerManaged: r.SchedulerManaged, Origin: r.Origin,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, CompletedAt: r.CompletedAt, DeadlineAt: r.DeadlineAt,
		LeaseExpiresAt: r.LeaseExpiresAt, Omitted: []string{},
	}
	if r.Status == Running && r.JobID != nil {
		out.Progress = r.JobProgress // heartbeats write it to the job alone
	}
	return out
}

// Routes adds the ledger's routes to the API.
func Routes(a *web.API) {
	web.List(a, web.Op{Path: "/v1/runs", ID: "list-runs", Summary: "List runs, newest first", Scope: web.ScopeJobsRead}, listed)
	web.Read(a, web.Op{Method: http.MethodGet, Path: "/v1/runs/{id}", ID: "get-run", Summary: "Get a run", Scope: web.ScopeJobsRead}, get)
	web.Read(a, web.Op{Method: http.MethodGet, Path: "/v1/runs/{id}/log", ID: "get-run-log", Summary: "Get what a run printed last", Scope: web.ScopeJobsRead}, getLog)
}

type listInput struct {
	web.PageQuery
	JobID  string `query:"job_id"`
	Status string `query:"status" enum:"running,succeeded,succeeded_with_gaps,failed,cancelled,abandoned,skipped" doc:"The recorded status: running covers in_progress, and runs whose lease ran out."`
	Kind   string `query:"kind" enum:"job,scheduled,manual,browser,webhook"`
}

var listed = web.ListOf[listInput, Run, runJSON]{
	Kind: "runs", Order: web.Newest,
	Page: web.PageOf(List, func(ownerID string, in *listInput) ListIn {
		return ListIn{OwnerID: ownerID, JobID: in.JobID, Status: in.Status, Kind: in.Kind}
	}),
	Item: func(r Run, now coltype.Time) runJSON {
		out := WireOf(r, now)
		out.Omitted = web.Omit(web.JSONMember("error", &out.Error))
		return out
	},
}

type getInput struct {
	ID string `path:"id"`
}

func get(ctx context.Context, q model.Reader, now coltype.Time, in *getInput) (*runJSON, error) {
	run, err := Get(ctx, q, web.Caller(ctx).OwnerID, in.ID)
	if err != nil {
		return nil, err
	}
	out := WireOf(run, now)
	return &out, nil
}

package sources

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/web"
)

// runRoutes adds the routes of whoever runs connections.
func runRoutes(a *web.API) {
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/runs", ID: "start-run", Summary: "Start a run of a connection", Scope: web.ScopeRunsWrite,
		Status: http.StatusCreated, Also: []int{http.StatusOK}, Faults: []string{"run_already_active", "connection_revoked", "ambiguous", "state_conflict"}}, startRun)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/runs/{id}/heartbeat", ID: "heartbeat-run", Summary: "Extend the lease of a run of a connection",
		Scope: web.ScopeRunsWrite, Faults: []string{"run_superseded", "state_conflict"}}, heartbeatRun)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/runs/{id}/finish", ID: "finish-run", Summary: "End a run of a connection", Scope: web.ScopeRunsWrite,
		Faults: []string{"run_superseded", "state_conflict"}}, finishRun)
}

type startRunInput struct {
	Body struct {
		ConnectionID  string   `json:"connection_id" minLength:"1" doc:"The connection, or a connector that has exactly one which is not revoked."`
		Kind          string   `json:"kind" enum:"scheduled,manual,browser,webhook"`
		ExternalRunID *string  `json:"external_run_id,omitempty" minLength:"1" doc:"What the runner calls the run. The same again brings the run that there is."`
		Worker        *string  `json:"worker,omitempty" minLength:"1" maxLength:"128" pattern:"^[!-~]([ -~]*[!-~])?$" patternDescription:"printable ASCII, no space at either end" doc:"Who runs it; shown to people."`
		LeaseSeconds  int64    `json:"lease_seconds,omitempty" minimum:"10" maximum:"86400" default:"60" doc:"For how long the run is taken to be alive without a heartbeat."`
		FullRefresh   []string `json:"full_refresh,omitempty" maxItems:"200" doc:"Streams that the run reads whole. When it has succeeded, their records that it did not bring are removed."`
	}
}

// Faults are those that a schema cannot tell.
func (in *startRunInput) Faults() []fault.Item {
	faults := twice(in.Body.FullRefresh)
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if id := in.Body.ExternalRunID; id != nil && (strings.TrimSpace(*id) != *id || strings.ContainsFunc(*id, hidden)) {
		faults = append(faults, fault.Item{Pointer: "/external_run_id", Detail: "expected visible characters, and no space at either end"})
	}
	return faults
}

// twice are the faults of streams that are named before.
func twice(streams []string) (faults []fault.Item) {
	for i, name := range streams {
		if slices.Contains(streams[:i], name) {
			faults = append(faults, fault.Item{Pointer: "/full_refresh/" + strconv.Itoa(i), Detail: "the stream is named before"})
		}
	}
	return faults
}

type startedJSON struct {
	Run          runs.Wire `json:"run"`
	Deduplicated bool      `json:"deduplicated" doc:"The connection had a run with that external_run_id: run is that one, and may have ended."`
	Generation   int64     `json:"generation" doc:"Names the run together with its id: in heartbeats, in finish, and where records are written for it."`
}

func startRun(ctx context.Context, q model.Querier, now coltype.Time, in *startRunInput) (web.Answer[startedJSON], error) {
	b := in.Body
	got, err := Start(ctx, q, now, StartIn{
		OwnerID: web.Caller(ctx).OwnerID, Connection: b.ConnectionID, Kind: b.Kind, ExternalRunID: b.ExternalRunID,
		Worker: b.Worker, LeaseSeconds: b.LeaseSeconds, FullRefresh: b.FullRefresh,
	})
	if err != nil {
		return web.Answer[startedJSON]{}, err
	}
	out := web.Answer[startedJSON]{Body: startedJSON{
		Run: runs.WireOf(got.Run, now), Deduplicated: got.Deduplicated, Generation: deref(got.Run.Generation),
	}}
	if got.Deduplicated {
		out.Status = http.StatusOK
	}
	return out, nil
}

type heartbeatRunInput struct {
	ID   string `path:"id"`
	Body struct {
		Generation   int64    `json:"generation" minimum:"1"`
		LeaseSeconds *int64   `json:"lease_seconds,omitempty" minimum:"10" maximum:"86400" doc:"From now. Absent: 60, unless the lease lasts longer as it is."`
		FullRefresh  []string `json:"full_refresh,omitempty" maxItems:"200" doc:"Further streams that the run reads whole from now on."`
	}
}

// Faults are those that a schema cannot tell.
func (in *heartbeatRunInput) Faults() []fault.Item { return twice(in.Body.FullRefresh) }

type heartbeatRunAnswer struct {
	LeaseExpiresAt coltype.Time `json:"lease_expires_at"`
}

func heartbeatRun(ctx context.Context, q model.Querier, now coltype.Time, in *heartbeatRunInput) (web.Answer[heartbeatRunAnswer], error) {
	end, err := Heartbeat(ctx, q, now, BeatIn{RenewIn: runs.RenewIn{
		OwnerID: web.Caller(ctx).OwnerID, ID: in.ID, Generation: in.Body.Generation, LeaseSeconds: in.Body.LeaseSeconds,
	}, FullRefresh: in.Body.FullRefresh})
	return web.Answer[heartbeatRunAnswer]{Body: heartbeatRunAnswer{LeaseExpiresAt: end}}, err
}

// runError says why a run failed.
type runError struct {
	Code    string        `json:"code" minLength:"1" maxLength:"64"`
	Message web.CleanText `json:"message" maxBytes:"4096" doc:"Cut at 4 KiB."`
}

type finishRunInput struct {
	ID   string `path:"id"`
	Body struct {
		Generation     int64     `json:"generation" minimum:"1"`
		Status         string    `json:"status" enum:"succeeded,succeeded_with_gaps,failed,cancelled"`
		TerminalReason *string   `json:"terminal_reason,omitempty" minLength:"1" doc:"For programs, where the status does not say it all."`
		Error          *runError `json:"error,omitempty"`
	}
}

type finishedRunJSON struct {
	Run runs.Wire `json:"run"`
}

func finishRun(ctx context.Context, q model.Querier, now coltype.Time, in *finishRunInput) (web.Answer[finishedRunJSON], error) {
	var failure coltype.JSON
	if in.Body.Error != nil {
		text, err := web.Encode(in.Body.Error)
		if err != nil {
			return web.Answer[finishedRunJSON]{}, err
		}
		failure = bytes.TrimSpace(text)
	}
	run, err := Finish(ctx, q, now, FinishIn{
		OwnerID: web.Caller(ctx).OwnerID, RunID: in.ID, Generation: in.Body.Generation,
		Status: in.Body.Status, Reason: in.Body.TerminalReason, Error: failure,
	})
	return web.Answer[finishedRunJSON]{Body: finishedRunJSON{Run: runs.WireOf(run, now)}}, err
}

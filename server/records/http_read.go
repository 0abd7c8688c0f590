package records

import (
	"context"
	"net/http"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/web"
)

const connectionPath = "/v1/connections/{connection}"

// readRoutes adds the routes that read what connections have brought, and that
// discard refused lines.
func readRoutes(a *web.API) {
	h := &reading{a}
	web.Read(a, web.Op{Method: http.MethodGet, Path: connectionPath + "/checkpoints", ID: "list-checkpoints", Summary: "List how far a connection's streams were read",
		Scope: web.ScopeRecordsRead, Faults: []string{"ambiguous"}}, checkpoints)
	web.Read(a, web.Op{Method: http.MethodGet, Path: connectionPath + "/changes", ID: "list-changes", Summary: "Follow what changes of a stream",
		Description: "Each record in its latest version, by version; deletions too. An answer ends at the limit, or at 4 MiB of data. Pass next_since on as since, whether or not there is more.",
		Scope:       web.ScopeRecordsRead, Faults: []string{"ambiguous", "invalid_cursor", "cursor_expired"}}, h.changes)
	web.List(a, web.Op{Path: connectionPath + "/rejections", ID: "list-rejections", Summary: "List refused lines of a connection, newest first",
		Scope: web.ScopeRecordsRead, Faults: []string{"ambiguous"}}, listedRejections)
	web.Read(a, web.Op{Method: http.MethodGet, Path: connectionPath + "/rejections/{id}", ID: "get-rejection", Summary: "Get a refused line with its bytes",
		Scope: web.ScopeRecordsRead, Faults: []string{"ambiguous"}}, getRejection)
	web.Write(a, web.Op{Method: http.MethodDelete, Path: connectionPath + "/rejections", ID: "discard-rejections", Summary: "Discard all refused lines of a connection",
		Scope: web.ScopeRecordsWrite, Faults: []string{"ambiguous"}}, discardAll)
	web.Write(a, web.Op{Method: http.MethodDelete, Path: connectionPath + "/rejections/{id}", ID: "discard-rejection", Summary: "Discard a refused line",
		Scope: web.ScopeRecordsWrite, Faults: []string{"ambiguous"}}, discardOne)
}

// reading is what its handlers need besides the request.
type reading struct{ api *web.API }

// of is the connection that a selector of the caller names.
func of(ctx context.Context, q model.Reader, selector string) (Of, error) {
	owner := web.Caller(ctx).OwnerID
	c, err := sources.Resolve(ctx, q, owner, selector)
	return Of{OwnerID: owner, ConnectionID: c.ID}, err
}

type connectionInput struct {
	Connection string `path:"connection"`
}

// checkpointJSON is where a source was read up to.
type checkpointJSON struct {
	Stream     *string      `json:"stream" nullable:"true" doc:"Null: of all streams."`
	Checkpoint coltype.JSON `json:"checkpoint" doc:"As it was sent."`
	RunID      *string      `json:"run_id" nullable:"true"`
	UpdatedAt  coltype.Time `json:"updated_at"`
}

type checkpointsJSON struct {
	Data []checkpointJSON `json:"data"`
}

// maxCheckpoints is above what a connection has: one for each stream of all
// manifests, and one for all of them.
const maxCheckpoints = 10000

func checkpoints(ctx context.Context, q model.Reader, _ coltype.Time, in *connectionInput) (*checkpointsJSON, error) {
	c, err := of(ctx, q, in.Connection)
	if err != nil {
		return nil, err
	}
	rows, err := q.CheckpointList(ctx, model.CheckpointListParams{ConnectionID: c.ConnectionID, OwnerID: c.OwnerID, Max: maxCheckpoints})
	return &checkpointsJSON{Data: keyset.Convert(rows, checkpointOf)}, wrap("list checkpoints", err)
}

func checkpointOf(r model.Checkpoint) checkpointJSON {
	return checkpointJSON{Stream: orNil(r.Stream), Checkpoint: r.Checkpoint, RunID: r.RunID, UpdatedAt: r.UpdatedAt}
}

type changesInput struct {
	Connection string `path:"connection"`
	Stream     string `query:"stream" required:"true" minLength:"1" maxLength:"128"`
	Since      string `query:"since" doc:"next_since of the answer before; absent: from the beginning."`
	Limit      int64  `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many changes an answer holds at most."`
}

// changeJSON is a record in its latest version.
type changeJSON struct {
	ID        string       `json:"id"`
	Key       string       `json:"key"`
	Op        string       `json:"op" enum:"upsert,delete"`
	Version   int64        `json:"version" doc:"Counts the changes of the stream."`
	Data      coltype.JSON `json:"data" doc:"Null for a delete."`
	EmittedAt coltype.Time `json:"emitted_at" nullable:"true"`
	SortAt    coltype.Time `json:"sort_at" nullable:"true" doc:"When it happened, to the source; null without a date."`
	CreatedAt coltype.Time `json:"created_at"`
	UpdatedAt coltype.Time `json:"updated_at"`
	DeletedAt coltype.Time `json:"deleted_at" nullable:"true"`
}

type changesJSON struct {
	Data      []changeJSON `json:"data"`
	HasMore   bool         `json:"has_more" doc:"There is more now; without it, ask again later."`
	NextSince string       `json:"next_since" doc:"Where to go on, also when there is no more."`
}

func (h *reading) changes(ctx context.Context, q model.Reader, _ coltype.Time, in *changesInput) (*changesJSON, error) {
	c, err := of(ctx, q, in.Connection)
	if err != nil {
		return nil, err
	}
	ask := ChangesIn{OwnerID: c.OwnerID, ConnectionID: c.ConnectionID, Stream: in.Stream, Limit: int(in.Limit)}
	if in.Since != "" {
		since, err := h.api.OpenSince(ctx, c.ConnectionID, in.Stream, in.Since)
		if err != nil {
			return nil, err
		}
		ask.Since = &since
	}
	got, err := Changes(ctx, q, ask)
	if err != nil {
		return nil, err
	}
	return &changesJSON{
		Data: keyset.Convert(got.Rows, changeOf), HasMore: got.More,
		NextSince: h.api.SealSince(ctx, c.ConnectionID, in.Stream, got.Next),
	}, nil
}

func changeOf(r model.RecordChangesRow) changeJSON {
	out := changeJSON{
		ID: r.ID, Key: r.Key, Op: Upsert, Version: r.Version, Data: r.Data, EmittedAt: r.EmittedAt, SortAt: r.SortAt,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, DeletedAt: r.DeletedAt,
	}
	if r.DatedBy == DatedByNothing {
		out.SortAt = coltype.Time{}
	}
	if !r.DeletedAt.IsZero() {
		out.Op, out.Data = Delete, nil
	}
	return out
}

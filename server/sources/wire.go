package sources

import (
	"encoding/json"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

// connectionJSON is a connection as clients see it.
type connectionJSON struct {
	ID            string       `json:"id"`
	ConnectorID   string       `json:"connector_id"`
	SourceKind    string       `json:"source_kind" enum:"account,device,browser,manual"`
	BindingKey    string       `json:"binding_key" doc:"Tells the sources of a kind apart."`
	DisplayName   string       `json:"display_name"`
	Status        string       `json:"status" enum:"draft,active,paused,revoked" doc:"draft: it has brought nothing yet. paused: what it brings is taken all the same."`
	RunGeneration int64        `json:"run_generation" doc:"How many runs of it were started."`
	Version       int64        `json:"version" doc:"1 at first, and one more with every change of its name or status."`
	Actor         *string      `json:"actor" nullable:"true" doc:"The name of the token that acted on it last."`
	ActedAt       coltype.Time `json:"acted_at" nullable:"true"`
	CreatedAt     coltype.Time `json:"created_at"`
	UpdatedAt     coltype.Time `json:"updated_at"`
	RevokedAt     coltype.Time `json:"revoked_at" nullable:"true"`
}

func connectionOf(c model.Connection) connectionJSON {
	return connectionJSON{
		ID: c.ID, ConnectorID: c.ConnectorID, SourceKind: c.SourceKind, BindingKey: c.BindingKey, DisplayName: c.DisplayName,
		Status: c.Status, RunGeneration: c.RunGeneration, Version: c.Version, Actor: c.Actor, ActedAt: c.ActedAt,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, RevokedAt: c.RevokedAt,
	}
}

// connectionDetailJSON is a connection with what it has.
type connectionDetailJSON struct {
	connectionJSON
	Streams []streamStateJSON `json:"streams" doc:"By name: those that the connector declares, and those that there are records of."`
	Heads   headsJSON         `json:"heads"`
	Devices []deviceJSON      `json:"devices" doc:"By name, the first 100."`
}

// streamStateJSON is a stream with what a connection has of it.
type streamStateJSON struct {
	Name         string       `json:"name"`
	Label        *string      `json:"label" nullable:"true"`
	Semantics    *string      `json:"semantics" nullable:"true" enum:"append_only,mutable_state" doc:"null: the connector declares it no more."`
	LiveCount    int64        `json:"live_count" doc:"Records that are not deleted."`
	UndatedCount int64        `json:"undated_count" doc:"Those without a time."`
	BadTimeCount int64        `json:"bad_time_count" doc:"Those whose time field holds something that is no time."`
	MinSortAt    coltype.Time `json:"min_sort_at" nullable:"true"`
	MaxSortAt    coltype.Time `json:"max_sort_at" nullable:"true"`
	Version      int64        `json:"version" doc:"How many changes it had."`
	LastSeq      int64        `json:"last_seq" doc:"The owner's number of the latest change."`
	Refreshing   bool         `json:"refreshing" doc:"A full refresh is being read, or what it did not bring is being removed."`
}

// headsJSON are the latest runs of a connection.
type headsJSON struct {
	ActiveRunID    *string      `json:"active_run_id" nullable:"true"`
	LatestRunID    *string      `json:"latest_run_id" nullable:"true"`
	SettledRunID   *string      `json:"settled_run_id" nullable:"true" doc:"The latest that ended."`
	SucceededRunID *string      `json:"succeeded_run_id" nullable:"true"`
	LastIngestAt   coltype.Time `json:"last_ingest_at" nullable:"true" doc:"When records or deletions came last."`
	RejectedCount  int64        `json:"rejected_count" doc:"Lines in the quarantine."`
	Revision       int64        `json:"revision" doc:"One more with every change of what stands here."`
	UpdatedAt      coltype.Time `json:"updated_at"`
}

// deviceJSON is a device that sent batches.
type deviceJSON struct {
	Device         string       `json:"device"`
	LastBatchID    *string      `json:"last_batch_id" nullable:"true"`
	LastAcceptedAt coltype.Time `json:"last_accepted_at" nullable:"true"`
	CreatedAt      coltype.Time `json:"created_at"`
}

func detailOf(d Detail) *connectionDetailJSON {
	h := d.Heads
	return &connectionDetailJSON{
		connectionJSON: connectionOf(d.Connection),
		Streams:        keyset.Convert(d.Streams, streamStateOf),
		Heads: headsJSON{
			ActiveRunID: h.ActiveRunID, LatestRunID: h.LatestRunID, SettledRunID: h.SettledRunID, SucceededRunID: h.SucceededRunID,
			LastIngestAt: h.LastIngestAt, RejectedCount: h.RejectedCount, Revision: h.Revision, UpdatedAt: h.UpdatedAt,
		},
		Devices: keyset.Convert(d.Devices, func(d model.ConnectionDevice) deviceJSON {
			return deviceJSON{Device: d.Device, LastBatchID: d.LastBatchID, LastAcceptedAt: d.LastAcceptedAt, CreatedAt: d.CreatedAt}
		}),
	}
}

func streamStateOf(s StreamState) streamStateJSON {
	p := s.Partition
	out := streamStateJSON{
		Name: s.Name, LiveCount: p.LiveCount, UndatedCount: p.UndatedCount, BadTimeCount: p.BadTimeCount,
		MinSortAt: p.MinSortAt, MaxSortAt: p.MaxSortAt, Version: p.Version, LastSeq: p.LastSeq, Refreshing: p.RefreshState != nil,
	}
	if s.Declared != nil {
		out.Label, out.Semantics = &s.Declared.Label, &s.Declared.Semantics
	}
	return out
}

// ETag is of the version, and of what is shown beside it: that changes on its own.
func (c connectionDetailJSON) ETag() string {
	beside, err := json.Marshal([]any{c.RunGeneration, c.Streams, c.Heads.Revision, c.Devices})
	if err != nil {
		return web.ETag(c.Version)
	}
	return web.ETagWith(c.Version, string(beside))
}

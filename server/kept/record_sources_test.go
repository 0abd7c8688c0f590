//go:build record

package kept

import (
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

const keptManifest = `{"display_name":"Books","streams":[
	{"name":"notes","semantics":"mutable_state","primary_key":["id"],"time_field":"at"},
	{"name":"log","semantics":"append_only","primary_key":[]}]}`

// fillSources leaves a connector, a connection of each status, one that was deleted,
// runs of each end, and what the lines of a chunk leave: versions, deletions,
// checkpoints, refused lines; a batch of each state, and a refresh under way.
func fillSources(t *testing.T, s *store.Store, owner string) {
	ctx, now := t.Context(), dbtest.T0
	err := s.Tx(ctx, func(q model.Querier) error {
		_, _, err := sources.PutConnector(ctx, q, now, sources.ConnectorIn{OwnerID: owner, ID: "books", Manifest: coltype.JSON(keptManifest), Match: func(int64) error { return nil }})
		if err != nil {
			return err
		}
		var active string
		status := map[string]string{"active": sources.Active, "draft": sources.Draft, "paused": sources.Active, "revoked": sources.Active, "deleted": sources.Draft}
		for _, key := range []string{"active", "draft", "paused", "revoked", "deleted"} {
			made, err := sources.Create(ctx, q, now, sources.ConnectionIn{
				OwnerID: owner, ConnectorID: "books", SourceKind: "account", BindingKey: key, DisplayName: "Änne's books", Status: status[key], Actor: "kept",
			})
			if err != nil {
				return err
			}
			switch id := made.Connection.ID; key {
			case "active":
				active = id
			case "deleted":
				_, err = sources.Delete(ctx, q, now, owner, id, "kept")
			case "paused", "revoked":
				_, err = sources.Move(ctx, q, now, sources.MoveIn{OwnerID: owner, Selector: id, To: key, Actor: "kept"})
			}
			if err != nil {
				return err
			}
		}
		return fillRecords(t, q, owner, active)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range []string{
		"'batch-1', 'accepted', 2, '{\"lines\":2}', null, null, created_at", "'batch-2', 'processing', 1, null, 'h', created_at, null",
	} {
		dbtest.SQL(t, s, `insert into ingest_batches (connection_id, owner_id, device, body_hash, accepted_count, unchanged_count, rejected_count,
				checkpoint_count, rejections, created_at, updated_at, batch_id, state, durable_lines, answer, holder, lease_expires_at, accepted_at)
			select id, owner_id, 'laptop', 'hash', 1, 0, 0, 0, '[]', created_at, created_at, `+batch+`
			from connections where owner_id = $1 and binding_key = 'active'`, owner)
	}
}

// fillRecords writes the lines of a run of a connection.
func fillRecords(t *testing.T, q model.Querier, owner, connection string) error {
	ctx, now := t.Context(), dbtest.T0
	streams, err := sources.Streams(ctx, q, owner, "books")
	if err != nil {
		return err
	}
	for _, status := range []string{runs.Succeeded, runs.Failed, runs.Running} {
		in := sources.StartIn{OwnerID: owner, Connection: connection, Kind: "manual", LeaseSeconds: 60}
		if status == runs.Running {
			in.FullRefresh = []string{"notes"}
		}
		started, err := sources.Start(ctx, q, now, in)
		if err != nil {
			return err
		}
		to := records.Target{OwnerID: owner, ConnectionID: connection, RunID: started.Run.ID, Generation: *started.Run.Generation, BatchID: "batch-1"}
		if _, err := records.Write(ctx, q, now, to, keptLines(status, streams)); err != nil {
			return err
		}
		if status == runs.Running {
			continue
		}
		_, err = sources.Finish(ctx, q, now, sources.FinishIn{OwnerID: owner, RunID: to.RunID, Generation: to.Generation, Status: status})
		if err != nil {
			return err
		}
	}
	return sources.Accepted(ctx, q, now, sources.AcceptedIn{OwnerID: owner, ConnectionID: connection, Device: "laptop", BatchID: "batch-1"})
}

// keptLines differ by their note, so that each run leaves a version.
func keptLines(note string, streams map[string]sources.Stream) []records.Line {
	raw := []byte("{" + note)
	lines := []records.Line{
		{Stream: "notes", Op: records.Upsert, Data: coltype.JSON(`{"id":"a","at":"2024-05-06","n":9007199254740993,"note":"` + note + `"}`)},
		{Stream: "notes", Op: records.Upsert, Data: coltype.JSON(`{"id":"b","at":"yesterday"}`), EmittedAt: dbtest.T0},
		{Stream: "notes", Op: records.Upsert, Data: coltype.JSON(`{"id":"c","note":"` + note + `"}`)},
		{Stream: "notes", Op: records.Delete, Key: "c"},
		{Stream: "log", Op: records.Upsert, Data: coltype.JSON(`{"entry":"` + note + `"}`)},
		{Stream: "notes", Checkpoint: coltype.JSON(`{"since":"2024-05-06"}`)},
		{Checkpoint: coltype.JSON(`"` + note + `"`)},
		{Raw: raw, Size: int64(len(raw)), Refused: &records.Refusal{Code: records.InvalidJSON, Detail: "a member's name is missing"}},
	}
	records.Prepare(lines, streams)
	return lines
}

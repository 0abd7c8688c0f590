package records_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// fixture is an owner with a connection of a connector that declares streams.
type fixture struct {
	dbtest.Fixture
	connection string
	server     *web.API // that api began last
}

func newFixture(t *testing.T, s *store.Store) *fixture {
	t.Helper()
	f := &fixture{Fixture: dbtest.NewFixture(t, s)}
	f.connection = f.connect(f.Owner, sources.Active)
	return f
}

var each, eachWhole = dbtest.EachOf(newFixture)

// streams are what the connector of a fixture declares.
const streams = `[
	{"name":"notes","semantics":"mutable_state","primary_key":"[\"id\"]","time_field":"at","label":"Notes"},
	{"name":"people","semantics":"mutable_state","primary_key":"[\"id\"]","label":"People"},
	{"name":"pairs","semantics":"mutable_state","primary_key":"[\"a\",\"b\"]","label":"Pairs"},
	{"name":"log","semantics":"append_only","primary_key":"[]","time_field":"at","label":"Log"}
]`

// connect makes a connection of an owner, and a connector for it alone.
func (f *fixture) connect(ownerID, status string) string {
	f.Helper()
	actor := "ada"
	ctx, connector, connection := f.Context(), id.New("c"), id.New("conn")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(streams), &rows); err != nil {
		f.Fatal(err)
	}
	for _, row := range rows {
		row["created_at"] = f.Now.UnixMicro()
	}
	text, _ := json.Marshal(rows)
	f.Tx(func(q model.Querier) error {
		_, err := q.ConnectorInsert(ctx, model.ConnectorInsertParams{
			OwnerID: ownerID, ID: connector, DisplayName: "Test", Manifest: coltype.JSON(`{}`), CreatedAt: f.Now,
		})
		if err == nil {
			_, err = q.StreamInsertMany(ctx, model.StreamInsertManyParams{OwnerID: ownerID, ConnectorID: connector, Rows: string(text)})
		}
		if err == nil {
			_, err = q.ConnectionInsert(ctx, model.ConnectionInsertParams{
				ID: connection, OwnerID: ownerID, ConnectorID: connector, SourceKind: "account", DisplayName: "Test", Status: status, Actor: &actor, CreatedAt: f.Now,
			})
		}
		if err == nil {
			err = q.HeadInsert(ctx, model.HeadInsertParams{ConnectionID: connection, OwnerID: ownerID, UpdatedAt: f.Now})
		}
		return err
	})
	return connection
}

func (f *fixture) target() records.Target {
	return records.Target{OwnerID: f.Owner, ConnectionID: f.connection}
}

// lines are texts as a parser leaves them: one that is not JSON is refused.
func lines(texts ...string) []records.Line {
	out := make([]records.Line, len(texts))
	for i, text := range texts {
		out[i] = line(int64(i), text)
	}
	return out
}

func line(index int64, text string) records.Line {
	var in struct {
		Stream, Op, Key  string
		Data, Checkpoint coltype.JSON
		EmittedAt        coltype.Time `json:"emitted_at"`
	}
	l := records.Line{Index: index, Raw: []byte(text), Size: int64(len(text))}
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		l.Refused = &records.Refusal{Code: records.InvalidJSON, Detail: err.Error()}
		return l
	}
	l.Stream, l.Op, l.Key, l.Data, l.EmittedAt, l.Checkpoint = in.Stream, in.Op, in.Key, in.Data, in.EmittedAt, in.Checkpoint
	if l.Op == "" && l.Checkpoint == nil {
		l.Op = records.Upsert
	}
	return l
}

func (f *fixture) tryWrite(to records.Target, texts ...string) (out records.Written, err error) {
	err = f.Try(func(q model.Querier) error {
		out, err = records.Write(f.Context(), q, f.Now, to, lines(texts...))
		return err
	})
	return out, err
}

// write writes one chunk, which must be taken.
func (f *fixture) write(texts ...string) records.Written {
	f.Helper()
	out, err := f.tryWrite(f.target(), texts...)
	if err != nil {
		f.Fatalf("write: %v", err)
	}
	return out
}

// wrote checks how many lines changed something, and how many did not.
func (f *fixture) wrote(accepted, unchanged int64, texts ...string) {
	f.Helper()
	out := f.write(texts...)
	if out.Accepted != accepted || out.Unchanged != unchanged || len(out.Rejected) > 0 {
		f.Errorf("%v: %+v, want %d accepted, %d unchanged", texts, out, accepted, unchanged)
	}
}

// stored is a record as its row has it.
type stored struct {
	ID, Data, DatedBy            string
	SortAt                       coltype.Time
	Seq, FirstSeq, Version, Seen int64
	Deleted                      bool
}

// record is the row of a key; there must be one.
func (f *fixture) record(stream, key string) (r stored) {
	f.Helper()
	sortAt := map[string]string{store.SQLite: "sort_at", store.Postgres: "cast(extract(epoch from sort_at) * 1000000 as bigint)"}[f.Store.Engine()]
	deleted, micros := "", int64(0)
	text := dbtest.Get[string](f.T, f.Store, `select id || '|' || dated_by || '|' || `+sortAt+` || '|' || seq || '|' || first_seq || '|' || version || '|' || seen_generation
		|| '|' || case when deleted_at is null then 'live' else 'deleted' end from records where connection_id = $1 and stream = $2 and key = $3`, f.connection, stream, key)
	fields := strings.Split(text, "|")
	for i, to := range []any{&r.ID, &r.DatedBy, &micros, &r.Seq, &r.FirstSeq, &r.Version, &r.Seen, &deleted} {
		if _, err := fmt.Sscan(fields[i], to); err != nil {
			f.Fatal(err)
		}
	}
	r.SortAt, r.Deleted = coltype.FromMicros(micros), deleted == "deleted"
	r.Data = dbtest.Get[string](f.T, f.Store, "select cast(data as text) from records where connection_id = $1 and stream = $2 and key = $3", f.connection, stream, key)
	return r
}

// count counts rows of a table that the connection has.
func (f *fixture) count(table, where string) int64 {
	f.Helper()
	return dbtest.Get[int64](f.T, f.Store, "select count(*) from "+table+" where connection_id = $1 and "+where, f.connection)
}

func (f *fixture) faulted(err error, code string) {
	f.Helper()
	var got *fault.Fault
	if !errors.As(err, &got) || got.Code != code {
		f.Errorf("got %v, want the fault %s", err, code)
	}
}

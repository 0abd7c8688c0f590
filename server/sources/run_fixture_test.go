package sources_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// running is an owner's connector, bank, with the streams accounts and log, and
// connections of it that are run.
type running struct {
	dbtest.Fixture
	connection string // the first
}

var eachRunning, eachRunningWhole = dbtest.EachOf(func(t *testing.T, s *store.Store) *running {
	d := &running{Fixture: dbtest.NewFixture(t, s)}
	d.Tx(func(q model.Querier) error {
		_, err := q.ConnectorInsert(t.Context(), model.ConnectorInsertParams{OwnerID: d.Owner, ID: "bank", DisplayName: "Bank", Manifest: coltype.JSON("{}"), CreatedAt: d.Now})
		return err
	})
	d.Tx(func(q model.Querier) error {
		const streams = `[{"name":"accounts","semantics":"mutable_state","primary_key":"[\"id\"]","label":"a","created_at":0},` +
			`{"name":"cards","semantics":"mutable_state","primary_key":"[\"id\"]","label":"c","created_at":0},` +
			`{"name":"log","semantics":"append_only","primary_key":"[]","label":"l","created_at":0}]`
		_, err := q.StreamInsertMany(t.Context(), model.StreamInsertManyParams{OwnerID: d.Owner, ConnectorID: "bank", Rows: streams})
		return err
	})
	d.connection = d.connect("one")
	return d
})

// connect makes an active connection.
func (d *running) connect(binding string) (connectionID string) {
	d.Helper()
	connectionID = id.New("conn")
	d.Tx(func(q model.Querier) error {
		_, err := q.ConnectionInsert(d.Context(), model.ConnectionInsertParams{
			ID: connectionID, OwnerID: d.Owner, ConnectorID: "bank", SourceKind: "account", BindingKey: binding,
			DisplayName: binding, Status: sources.Active, Actor: &binding, CreatedAt: d.Now,
		})
		if err != nil {
			return err
		}
		return q.HeadInsert(d.Context(), model.HeadInsertParams{ConnectionID: connectionID, OwnerID: d.Owner, UpdatedAt: d.Now})
	})
	return connectionID
}

// in is a start on the first connection.
func (d *running) in(external string) sources.StartIn {
	in := sources.StartIn{OwnerID: d.Owner, Connection: d.connection, Kind: "manual", LeaseSeconds: 60}
	if external != "" {
		in.ExternalRunID = &external
	}
	return in
}

func (d *running) try(in sources.StartIn) (out sources.Started, err error) {
	err = d.Try(func(q model.Querier) error {
		out, err = sources.Start(d.Context(), q, d.Now, in)
		return err
	})
	return out, err
}

func (d *running) start(in sources.StartIn) runs.Run {
	d.Helper()
	out, err := d.try(in)
	if err != nil {
		d.Fatalf("start: %v", err)
	}
	d.recount()
	return out.Run
}

func (d *running) finish(run runs.Run, status string) (out runs.Run, err error) {
	d.Helper()
	err = d.Try(func(q model.Querier) error {
		out, err = sources.Finish(d.Context(), q, d.Now, sources.FinishIn{OwnerID: d.Owner, RunID: run.ID, Generation: *run.Generation, Status: status})
		return err
	})
	d.recount()
	return out, err
}

func (d *running) beat(run runs.Run, streams ...string) (end coltype.Time, err error) {
	err = d.Try(func(q model.Querier) error {
		in := sources.BeatIn{RenewIn: runs.RenewIn{OwnerID: d.Owner, ID: run.ID, Generation: *run.Generation}, FullRefresh: streams}
		end, err = sources.Heartbeat(d.Context(), q, d.Now, in)
		return err
	})
	return end, err
}

// write is what each write for a run begins with.
func (d *running) write(run runs.Run) error {
	return d.Try(func(q model.Querier) error {
		return runs.Hold(d.Context(), q, d.Owner, run.ID, d.connection, *run.Generation)
	})
}

// refused checks the code of a fault.
func (d *running) refused(err error, code string) {
	d.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != code {
		d.Errorf("%v, want %s", err, code)
	}
}

func (d *running) status(runID, want string) {
	d.Helper()
	run, err := runs.Get(d.Context(), d.Store, d.Owner, runID)
	if err != nil || run.Status != want {
		d.Errorf("%s is %s, %v; want %s", runID, run.Status, err, want)
	}
}

// recount compares the heads of the owner's connections with what their runs say: a
// run of a later generation began later, and ended later.
func (d *running) recount() {
	d.Helper()
	latest := func(where string) string {
		return fmt.Sprintf("coalesce((select r.id from runs r where r.connection_id = h.connection_id and %s order by r.generation desc limit 1), '')", where)
	}
	for column, want := range map[string]string{
		"active_run_id":    latest("r.status = 'running'"),
		"latest_run_id":    latest("true"),
		"settled_run_id":   latest("r.status <> 'running'"),
		"succeeded_run_id": latest("r.status in ('succeeded', 'succeeded_with_gaps')"),
	} {
		drift := "select count(*) from connection_heads h where owner_id = $1 and coalesce(" + column + ", '') <> " + want
		if n := dbtest.Get[int](d.T, d.Store, drift, d.Owner); n != 0 {
			d.Errorf("%s of %d connections is not what their runs say", column, n)
		}
	}
}

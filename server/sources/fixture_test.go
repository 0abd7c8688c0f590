package sources_test

import (
	"cmp"
	"errors"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/sources"
	"github.com/stint-run/stint/server/store"
)

// fixture is an owner with the connector books.
type fixture struct{ dbtest.Fixture }

const booksManifest = `{"display_name":"Books","streams":[{"name":"loans","semantics":"mutable_state","primary_key":["id"],"time_field":"lent_at"}],"icon":"book"}`

var each, _ = dbtest.EachOf(func(t *testing.T, s *store.Store) *fixture {
	d := &fixture{Fixture: dbtest.NewFixture(t, s)}
	d.put("books", booksManifest, 0)
	return d
})

// tryPut puts a manifest made from the version that was seen; 0 is none.
func (d *fixture) tryPut(id, manifest string, seen int64) (c model.Connector, created bool, err error) {
	err = d.Try(func(q model.Querier) error {
		c, created, err = sources.PutConnector(d.Context(), q, d.Now, sources.ConnectorIn{
			OwnerID: d.Owner, ID: id, Manifest: coltype.JSON(manifest), Match: version(seen),
		})
		return err
	})
	return c, created, err
}

func (d *fixture) put(id, manifest string, seen int64) model.Connector {
	d.Helper()
	c, _, err := d.tryPut(id, manifest, seen)
	if err != nil {
		d.Fatalf("put %s: %v", id, err)
	}
	return c
}

// version is an If-Match of the version that was seen.
func version(seen int64) func(int64) error {
	return func(now int64) error {
		if now != seen {
			return fault.PreconditionFailed()
		}
		return nil
	}
}

// tryConnect connects an account of books, unless in says otherwise.
func (d *fixture) tryConnect(in sources.ConnectionIn) (got sources.Created, err error) {
	in.OwnerID, in.Actor = d.Owner, "maker"
	in.ConnectorID = cmp.Or(in.ConnectorID, "books")
	in.SourceKind = cmp.Or(in.SourceKind, "account")
	in.Status = cmp.Or(in.Status, sources.Active)
	err = d.Try(func(q model.Querier) error {
		got, err = sources.Create(d.Context(), q, d.Now, in)
		return err
	})
	return got, err
}

func (d *fixture) connect(in sources.ConnectionIn) model.Connection {
	d.Helper()
	got, err := d.tryConnect(in)
	if err != nil || got.Deduplicated {
		d.Fatalf("connect: deduplicated %v, %v", got.Deduplicated, err)
	}
	return got.Connection
}

func (d *fixture) tryMove(selector, to string) (c model.Connection, err error) {
	err = d.Try(func(q model.Querier) error {
		c, err = sources.Move(d.Context(), q, d.Now, sources.MoveIn{OwnerID: d.Owner, Selector: selector, To: to, Actor: "mover"})
		return err
	})
	return c, err
}

func (d *fixture) move(selector, to string) model.Connection {
	d.Helper()
	c, err := d.tryMove(selector, to)
	if err != nil {
		d.Fatalf("%s to %s: %v", selector, to, err)
	}
	return c
}

func (d *fixture) tryDelete(selector string) error {
	return d.Try(func(q model.Querier) error {
		_, err := sources.Delete(d.Context(), q, d.Now, d.Owner, selector, "remover")
		return err
	})
}

func (d *fixture) delete(selector string) {
	d.Helper()
	if err := d.tryDelete(selector); err != nil {
		d.Fatalf("delete %s: %v", selector, err)
	}
}

func (d *fixture) get(selector string) sources.Detail {
	d.Helper()
	got, err := sources.Get(d.Context(), d.Store, d.Owner, selector)
	if err != nil {
		d.Fatalf("get %s: %v", selector, err)
	}
	return got
}

// write is the transaction of a writer of records, and returns the connection as it
// is then.
func (d *fixture) write(connectionID string) (c model.Connection, err error) {
	err = d.Try(func(q model.Querier) error {
		held, err := sources.Hold(d.Context(), q, d.Owner, connectionID)
		if err == nil {
			err = sources.Activate(d.Context(), q, d.Now, held)
		}
		if err == nil {
			c, err = sources.Resolve(d.Context(), q, d.Owner, connectionID)
		}
		return err
	})
	return c, err
}

// fault is the fault of a code, or the test fails.
func (d *fixture) fault(err error, code string) *fault.Fault {
	d.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Code != code {
		d.Errorf("%v, want %s", err, code)
		return &fault.Fault{}
	}
	return f
}

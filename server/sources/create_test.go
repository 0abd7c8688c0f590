package sources_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/sources"
)

func TestASourceIsConnectedOnce(t *testing.T) {
	each(t, func(d *fixture) {
		var made, known atomic.Int64
		var wg sync.WaitGroup
		ids := make([]string, 50)
		for i := range ids {
			wg.Go(func() {
				got, err := d.tryConnect(sources.ConnectionIn{BindingKey: "ada"})
				if err != nil {
					d.Error(err)
				}
				ids[i] = got.Connection.ID
				if got.Deduplicated {
					known.Add(1)
				} else {
					made.Add(1)
				}
			})
		}
		wg.Wait()
		for _, id := range ids {
			if id != ids[0] {
				d.Fatalf("two connections: %s and %s", ids[0], id)
			}
		}
		if made.Load() != 1 || known.Load() != 49 {
			d.Errorf("%d were made, %d met it", made.Load(), known.Load())
		}
		maker := "maker"
		want := model.Connection{
			ID: ids[0], OwnerID: d.Owner, ConnectorID: "books", SourceKind: "account", BindingKey: "ada", DisplayName: "Books",
			Status: sources.Active, Version: 1, Actor: &maker, ActedAt: d.Now, CreatedAt: d.Now, UpdatedAt: d.Now,
		}
		got := d.get(ids[0])
		if diff := cmp.Diff(want, got.Connection); diff != "" {
			d.Errorf("(-want +got)\n%s", diff)
		}
		if got.Heads.ConnectionID != want.ID || got.Heads.Revision != 1 {
			d.Errorf("heads: %+v", got.Heads)
		}
		for _, other := range []sources.ConnectionIn{{BindingKey: "bob"}, {BindingKey: "ada", SourceKind: "device"}} {
			d.connect(other)
		}
		d.move(ids[0], sources.Revoked)
		if again, err := d.tryConnect(sources.ConnectionIn{BindingKey: "ada"}); err != nil || !again.Deduplicated || again.Connection.Status != sources.Revoked {
			d.Errorf("a revoked source: %+v, %v", again, err)
		}
	})
}

func TestASourceNeedsAConnectorOfItsOwner(t *testing.T) {
	each(t, func(d *fixture) {
		_, err := d.tryConnect(sources.ConnectionIn{ConnectorID: "mail"})
		d.fault(err, "not_found")
		d.Owner = dbtest.Owner(d.T, d.Store, "another").ID
		_, err = d.tryConnect(sources.ConnectionIn{})
		d.fault(err, "not_found")
	})
}

func TestADeletedSourceComesBackOnlyWhenAsked(t *testing.T) {
	each(t, func(d *fixture) {
		source := sources.ConnectionIn{BindingKey: "ada", SourceKind: "device"}
		old := d.connect(source)
		accept(d, old.ID, "laptop", "b1")
		d.Pass(time.Second)
		d.delete(old.ID)
		d.fault(d.tryDelete(old.ID), "not_found")
		_, err := d.write(old.ID)
		d.fault(err, "not_found")
		for table, want := range map[string]int{"connections": 0, "connection_heads": 0, "connection_devices": 0, "connection_removals": 1, "connection_tombstones": 1} {
			if n := dbtest.Get[int](d.T, d.Store, "select count(*) from "+table+" where owner_id = $1", d.Owner); n != want {
				d.Errorf("%d rows of %s, want %d", n, table, want)
			}
		}

		_, err = d.tryConnect(source)
		if f := d.fault(err, "connection_deleted"); f.Members["connection_id"] != old.ID {
			d.Errorf("the fault names %v, want %s", f.Members["connection_id"], old.ID)
		}
		if _, err := sources.Resolve(d.Context(), d.Store, d.Owner, "books"); err == nil {
			d.Error("the refused source is connected")
		}
		replacing := source
		replacing.ReplaceDeleted = true
		anew, err := d.tryConnect(replacing)
		if err != nil || anew.Deduplicated || anew.Connection.ID == old.ID {
			d.Fatalf("replaced: %+v, %v", anew, err)
		}
		if again, err := d.tryConnect(source); err != nil || again.Connection.ID != anew.Connection.ID {
			d.Errorf("without the tombstone: %+v, %v", again, err)
		}
		d.delete("books")
		d.fault(d.tryDelete("books"), "not_found")
	})
}

// Whoever adds and whoever deletes a source at once: a tombstone and a connection
// never stand beside each other.
func TestNoRaceBringsADeletedSourceBack(t *testing.T) {
	each(t, func(d *fixture) {
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				for range 10 {
					if got, err := d.tryConnect(sources.ConnectionIn{BindingKey: "ada", ReplaceDeleted: i == 0}); err == nil {
						_ = d.tryDelete(got.Connection.ID) // another may have been faster
					}
					if n := dbtest.Get[int](d.T, d.Store, `select count(*) from connections c join connection_tombstones t
						on t.owner_id = c.owner_id and t.binding_key = c.binding_key where c.owner_id = $1`, d.Owner); n != 0 {
						d.Error("a source is connected, and deleted")
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func accept(d *fixture, connectionID, device, batchID string) {
	d.Helper()
	d.Tx(func(q model.Querier) error {
		return sources.Accepted(d.Context(), q, d.Now, sources.AcceptedIn{OwnerID: d.Owner, ConnectionID: connectionID, Device: device, BatchID: batchID})
	})
}

// What runs in the background of a server, seen from outside: by name, and by what it does.
package server_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

// effects are what each loop is there for. A loop that is not wired into the server fails here, whatever its own tests say.
var effects = map[string]struct {
	plant func(b *background) // nil: the server's own traffic is enough
	done  func(b *background) bool
}{
	"clock": {nil, func(b *background) bool { return b.loop("clock").Passes > 1 }}, // its own tests have what it does
	"run-reaper": {
		func(b *background) {
			b.claim("reaped")
			dbtest.Past(b.t, b.Store, "jobs", "lease_expires_at", time.Hour)
		},
		func(b *background) bool { return b.count("jobs", "kind = 'reaped' and state = 'pending'") == 1 },
	},
	"connection-run-reaper": {
		func(b *background) {
			b.connected("gone")
			b.Must(201, "/v1/runs", `{"connection_id":"gone","kind":"manual"}`)
			dbtest.Past(b.t, b.Store, "runs", "lease_expires_at", time.Hour)
		},
		func(b *background) bool { return b.count("runs", "kind = 'manual' and status = 'abandoned'") == 1 },
	},
	"refresh-remover": {
		func(b *background) {
			b.connected("refreshed")
			b.Must(200, "/v1/connections/refreshed/records", `[{"stream":"notes","data":{"id":"unseen"}}]`)
			run := b.Must(201, "/v1/runs", `{"connection_id":"refreshed","kind":"manual","full_refresh":["notes"]}`).Str("run.id")
			b.Must(200, "/v1/runs/"+run+"/finish", `{"generation":1,"status":"succeeded"}`)
		},
		func(b *background) bool { return b.count("records", "key = 'unseen' and deleted_at is not null") == 1 },
	},
	"record-sweeper": {
		func(b *background) {
			b.connected("swept")
			b.Must(200, "/v1/connections/swept/records", `[{"stream":"notes","data":{"id":"swept"}},{"stream":"notes","op":"delete","key":"swept"}]`)
			dbtest.Past(b.t, b.Store, "records", "deleted_at", 31*24*time.Hour)
		},
		func(b *background) bool { return b.count("records", "key = 'swept'") == 0 },
	},
	"connection-remover": {
		func(b *background) {
			b.connected("deleted")
			b.Must(200, "/v1/connections/deleted/records", `[{"stream":"notes","data":{"id":"deleted"}}]`)
			b.Call("DELETE", "/v1/connections/deleted", "")
		},
		func(b *background) bool { return b.count("records", "key = 'deleted'") == 0 },
	},
	"queue-figures": {
		func(b *background) { b.Must(201, "/v1/jobs", `{"kind":"measured"}`) },
		func(b *background) bool {
			return strings.Contains(string(b.Admin.Get("/metrics").Body), `kind="measured"`)
		},
	},
	"tokens-last-used": {nil, func(b *background) bool { return b.count("tokens", "last_used_at is not null") > 0 }},
	"idempotency-sweep": {
		func(b *background) {
			b.Must(201, "/v1/jobs", `{"kind":"swept"}`, "Idempotency-Key", "old")
			dbtest.Past(b.t, b.Store, "idempotency_keys", "created_at", 2*time.Minute) // --idempotency-ttl is 1m here
			b.Must(201, "/v1/jobs", `{"kind":"swept"}`, "Idempotency-Key", "new")
		},
		func(b *background) bool { return b.count("idempotency_keys", "key = 'old'") == 0 },
	},
	"login-links": {
		func(b *background) {
			b.tx(func(q model.Querier, now coltype.Time) error {
				_, _, err := control.NewLink(b.t.Context(), q, now.Add(-2*time.Hour), control.LinkIn{
					OwnerID: b.ownerID, Name: "ada", Scopes: []string{web.ScopeAdmin}, Life: time.Minute, Session: time.Hour,
				})
				return err
			})
		},
		func(b *background) bool { return b.count("login_links", "1 = 1") == 0 },
	},
	"sessions": {
		func(b *background) {
			b.tx(func(q model.Querier, now coltype.Time) error {
				past := now.Add(-90 * 24 * time.Hour)
				secret, _, err := control.NewLink(b.t.Context(), q, past, control.LinkIn{
					OwnerID: b.ownerID, Name: "ada", Scopes: []string{web.ScopeAdmin}, Life: time.Minute, Session: time.Hour,
				})
				if err == nil {
					_, _, err = control.Login(b.t.Context(), q, past, secret)
				}
				return err
			})
		},
		func(b *background) bool { return b.count("tokens", "kind = 'session'") == 0 },
	},
	"workers-seen": {
		func(b *background) { b.claim("seen") },
		func(b *background) bool { return b.count("workers", "name = 'seen'") == 1 },
	},
	"worker-sweep": {
		func(b *background) {
			rows := fmt.Sprintf(`[{"owner_id":%q,"name":"gone","at":%d}]`, b.ownerID, time.Now().Add(-8*24*time.Hour).UnixMicro())
			b.tx(func(q model.Querier, _ coltype.Time) error {
				_, err := q.WorkerSeen(b.t.Context(), model.WorkerSeenParams{Rows: rows})
				return err
			})
		},
		func(b *background) bool { return b.count("workers", "name = 'gone'") == 0 },
	},
	"sqlite-log": {
		func(b *background) {
			payload := strings.Repeat("x", 200<<10)
			for range 40 {
				b.Must(201, "/v1/jobs", `{"kind":"large","payload":"`+payload+`"}`)
			}
		},
		func(b *background) bool {
			log, err := os.Stat(strings.TrimPrefix(b.URL, "sqlite:") + "-wal")
			return err == nil && log.Size() <= 4<<20
		},
	},
}

// background is a server whose passes follow each other at once.
type background struct {
	*apitest.Server
	t       *testing.T
	ownerID string
}

func TestEveryLoopWorksInTheServer(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		b := &background{t: t, Server: apitest.ServeWith(t, s, server.Config{PassEvery: 50 * time.Millisecond, IdempotencyTTL: time.Minute})}
		b.ownerID = dbtest.Get[string](t, s, "select id from owners where name = $1", b.Owner)
		names := b.names()
		var want []string
		for name := range effects {
			if name != "sqlite-log" || s.Engine() == store.SQLite {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("the server has the loops %q, and this test knows %q", names, want)
		}
		for _, name := range want {
			if plant := effects[name].plant; plant != nil {
				plant(b)
			}
			apitest.Await(t, "the effect of the loop "+name, func() bool { return effects[name].done(b) })
		}
		if b.count("idempotency_keys", "key = 'new'") != 1 {
			t.Error("the sweep removed a key that still holds its answer")
		}
	})
}

// health is what a server says of its loops.
type health struct {
	Replica struct {
		Loops []struct {
			Name   string
			Passes int64
		}
	}
}

func (b *background) health() (h health) {
	b.Get("/readyz?verbose").Into(b.t, &h)
	return h
}

func (b *background) names() (names []string) {
	for _, l := range b.health().Replica.Loops {
		names = append(names, l.Name)
	}
	slices.Sort(names)
	return names
}

func (b *background) loop(name string) (l struct {
	Name   string
	Passes int64
}) {
	for _, l := range b.health().Replica.Loops {
		if l.Name == name {
			return l
		}
	}
	b.t.Fatalf("there is no loop %s", name)
	return l
}

func (b *background) claim(worker string) {
	b.Must(201, "/v1/jobs", `{"kind":"`+worker+`"}`)
	b.Must(200, "/v1/jobs/claim", `{"worker":"`+worker+`","kinds":["`+worker+`"]}`)
}

// connected makes a connector with the stream notes, and a connection of it.
func (b *background) connected(connector string) {
	b.Call("PUT", "/v1/connectors/"+connector, `{"manifest":{"streams":[{"name":"notes","semantics":"mutable_state","primary_key":["id"]}]}}`)
	b.Must(201, "/v1/connections", `{"connector_id":"`+connector+`"}`)
}

func (b *background) count(table, where string) int64 {
	return dbtest.Get[int64](b.t, b.Store, "select count(*) from "+table+" where "+where)
}

func (b *background) tx(fn func(q model.Querier, now coltype.Time) error) {
	b.t.Helper()
	now, err := b.Store.Time(b.t.Context())
	if err == nil {
		err = b.Store.Tx(b.t.Context(), func(q model.Querier) error { return fn(q, now) })
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

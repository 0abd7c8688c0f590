package control_test

import (
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// cause is why a replica on s is not ready; "" if it is. Nothing is remembered.
func cause(t *testing.T, s *store.Store) string {
	t.Helper()
	err := control.NewReadiness(s, nil, nil).Ready(t.Context())
	if err == nil {
		return ""
	}
	if word := store.Cause(err); word != "" {
		return word
	}
	return err.Error()
}

// becomes waits until a replica on s is unready for a cause, or ready ("").
func becomes(t *testing.T, s *store.Store, want string) {
	t.Helper()
	apitest.Await(t, "the cause is "+want, func() bool { return cause(t, s) == want })
}

func put(t *testing.T, s *store.Store, key string) error {
	t.Helper()
	return s.Tx(t.Context(), func(q model.Querier) error {
		_, err := q.MetaInsert(t.Context(), model.MetaInsertParams{Key: key, Value: "v"})
		return err
	})
}

// Another process that holds SQLite's writer is waited for; only when that takes
// as long as writers wait do they fail.
func TestNotReadyWhileAnotherProcessKeepsTheWriter(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite), Waits: store.Waits{Writer: time.Second, Conn: 3 * time.Second}})
	if got := cause(t, s); got != "" {
		t.Fatal(got)
	}
	for _, tried := range []bool{false, true} {
		tx, err := dbtest.DB(t, s).BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if tried {
			if err := put(t, s, "refused"); err == nil {
				t.Error("two wrote at once")
			}
			if got := cause(t, s); got != store.CauseWriterBusy {
				t.Errorf("after a write that failed: %q", got)
			}
		} else {
			if got := cause(t, s); got != "" {
				t.Errorf("before any write could fail: %q", got)
			}
			becomes(t, s, store.CauseWriterBusy)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		becomes(t, s, "")
	}
}

// Many writers are no fault as long as each has its turn.
func TestReadyBesideBusyWriters(t *testing.T) {
	t.Parallel()
	dbtest.EachWith(t, dbtest.Whole, store.Config{MaxConns: 2, Waits: store.Waits{Writer: 500 * time.Millisecond}}, func(t *testing.T, s *store.Store) {
		done := make(chan struct{})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						_ = put(t, s, rand.Text())
					}
				}
			})
		}
		for began := time.Now(); time.Since(began) < time.Second; {
			if got := cause(t, s); got != "" {
				t.Errorf("busy writers make it unready: %q", got)
			}
		}
		close(done)
		wg.Wait()
	})
}

func TestPoolThatIsUsedUpIsAFaultOnlyOnceNobodyGetsAConnection(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres), MaxConns: 2, Waits: store.Waits{Conn: 1500 * time.Millisecond}})
	_ = s.Now() // measured: what follows waits for one connection only
	var wg sync.WaitGroup
	held, release := make(chan struct{}), make(chan struct{})
	for range 2 {
		wg.Go(func() {
			err := s.Tx(t.Context(), func(model.Querier) error {
				held <- struct{}{}
				<-release
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-held
	}
	began := time.Now()
	if got := cause(t, s); got != "" {
		t.Errorf("all connections are in use: %q", got)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the probe waited %v for a connection", took)
	}
	if err := put(t, s, "refused"); store.Cause(err) != store.CausePoolUsedUp {
		t.Errorf("a write is refused with %v", err)
	}
	becomes(t, s, store.CausePoolUsedUp)
	close(release)
	wg.Wait()
	becomes(t, s, "")
}

func TestNotReadyWhileWritesFail(t *testing.T) {
	t.Parallel()
	url := dbtest.Fresh(t, store.Postgres)
	owner := dbtest.Open(t, store.Config{URL: url})
	role := "app_" + strings.ToLower(rand.Text()[:10])
	dbtest.SQL(t, owner, "create role "+role)
	dbtest.SQL(t, owner, "grant all on all tables in schema public to "+role)
	defer func() {
		dbtest.SQL(t, owner, "drop owned by "+role)
		dbtest.SQL(t, owner, "drop role "+role)
	}()
	s := dbtest.Open(t, store.Config{URL: url + "&options=-c%20role%3D" + role})
	becomes(t, s, "")
	for _, tt := range []struct{ begin, end, want string }{
		{"revoke update on jobs from " + role, "grant update on jobs to " + role, store.CauseRights},
		{"revoke insert on meta from " + role, "grant insert on meta to " + role, store.CauseRights},
		{`create function other() returns trigger language plpgsql as $$ begin new.value = 'other'; return new; end $$;
			create trigger other before insert on meta for each row execute function other()`, "drop trigger other on meta", store.CauseEncoding},
		{`create function full_() returns trigger language plpgsql as $$ begin raise exception 'full' using errcode = '53100'; end $$;
			create trigger full_ before insert on meta for each row execute function full_()`, "drop trigger full_ on meta", store.CauseDisk},
	} {
		dbtest.SQL(t, owner, tt.begin)
		if got := cause(t, s); got != tt.want {
			t.Errorf("%s: the cause is %q, want %q", tt.begin, got, tt.want)
		}
		dbtest.SQL(t, owner, tt.end)
		if got := cause(t, s); got != "" {
			t.Errorf("%s: the cause is %q", tt.end, got)
		}
	}
}

// What a probe does not meet, requests do, and at once: the finding that all was well is not told for its moment.
func TestNotReadyAfterAWriteThatTheDatabaseRefused(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)})
	dbtest.SQL(t, s, `create function full_() returns trigger language plpgsql as $$ begin raise exception 'full' using errcode = '53100'; end $$`)
	dbtest.SQL(t, s, `create trigger full_ before insert on owners for each row execute function full_()`)
	replica := control.NewReadiness(s, nil, nil)
	if err := replica.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused := func(q model.Querier) error {
		_, _, err := control.CreateOwner(t.Context(), q, dbtest.T0, "ada")
		return err
	}
	err := s.Background().Tx(t.Context(), refused)
	if got := cause(t, s); err == nil || got != "" {
		t.Errorf("a pass met %v, which says nothing of requests, and the cause is %q", err, got)
	}
	err = s.Tx(t.Context(), refused)
	if told := replica.Ready(t.Context()); store.Cause(told) != store.CauseDisk {
		t.Errorf("after %v the replica is %v", err, told)
	}
	if got := cause(t, s); got != store.CauseDisk {
		t.Errorf("after %v the cause is %q", err, got)
	}
	if err := put(t, s, "k"); err != nil {
		t.Error(err)
	}
	if got := cause(t, s); got != "" {
		t.Errorf("after a write that went well the cause is %q", got)
	}
}

func TestReadOnlyAndMovedDatabasesAreNamed(t *testing.T) {
	t.Parallel()
	raw := dbtest.Fresh(t, store.Postgres)
	s := dbtest.Open(t, store.Config{URL: raw})
	name := dbtest.Get[string](t, s, "select current_database()")
	dbtest.SQL(t, s, "alter database "+name+" set default_transaction_read_only = on")
	s = dbtest.Open(t, store.Config{URL: raw + "&target_session_attrs=any"})
	if got := cause(t, s); got != store.CauseReadOnly {
		t.Errorf("read-only: %q", got)
	}

	raw = dbtest.Whole(t, store.SQLite)
	s = dbtest.Open(t, store.Config{URL: raw})
	path, err := store.SQLitePath(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if got := cause(t, s); got != store.CauseFileMoved {
		t.Errorf("moved: %q", got)
	}
}

package store_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// Every exec mode writes and reads every column type, and waits for no lock
// longer than 2 s.
func TestEveryExecModeKeepsValuesAndTimeouts(t *testing.T) {
	t.Parallel()
	for _, mode := range []store.ExecMode{store.CacheStatement, store.CacheDescribe, store.Exec, store.Simple} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			url := dbtest.Whole(t, store.Postgres)
			s := dbtest.Open(t, store.Config{URL: url, ExecMode: mode})
			ctx := t.Context()
			owner := dbtest.Owner(t, s, "ada")
			in := token(owner, "tok_1", "hash")
			in.Scopes, in.ExpiresAt = coltype.JSON(`["a", 1e400, {"b":null}]`), dbtest.T0.Add(time.Microsecond)
			if err := s.Tx(ctx, func(q model.Querier) error { return q.TokenInsert(ctx, in) }); err != nil {
				t.Fatal(err)
			}
			got, err := s.TokenGet(ctx, model.TokenGetParams{ID: "tok_1", OwnerID: owner.ID})
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Scopes) != string(in.Scopes) || !got.ExpiresAt.Equal(in.ExpiresAt) ||
				!got.CreatedAt.Equal(in.CreatedAt) || !got.RevokedAt.IsZero() {
				t.Errorf("got %+v, want what was written: %+v", got, in)
			}
			err = product(t, store.Config{URL: url, ExecMode: mode}).Tx(ctx, func(q model.Querier) error {
				return store.ExecForTest(ctx, q, `do $$ begin
					if current_setting('lock_timeout') <> '2s' or current_setting('statement_timeout') <> '15s'
						or current_setting('idle_in_transaction_session_timeout') <> '15s'
						or current_setting('synchronous_commit') <> 'on' then
						raise exception 'a setting is missing'; end if; end $$`)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Settings of a role, a database or the URL that change what text means reach no
// connection: the driver would send UTF-8 and the server take it for LATIN1.
func TestSettingsOfTheDatabaseChangeNoValue(t *testing.T) {
	t.Parallel()
	raw := dbtest.Fresh(t, store.Postgres)
	s := dbtest.Open(t, store.Config{URL: raw})
	name, ctx := dbtest.Get[string](t, s, "select current_database()"), t.Context()
	if err := s.Tx(ctx, func(q model.Querier) error { return setMeta(ctx, q, "日本", `\'`) }); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{
		"client_encoding = 'LATIN1'", "DateStyle = 'German'", "standard_conforming_strings = off", "TimeZone = 'Asia/Kathmandu'",
		"IntervalStyle = 'sql_standard'", "bytea_output = 'escape'", "default_transaction_isolation = 'serializable'",
	} {
		dbtest.SQL(t, s, "alter database "+name+" set "+setting)
	}
	for _, mode := range []store.ExecMode{store.CacheStatement, store.CacheDescribe, store.Exec, store.Simple} {
		s := dbtest.Open(t, store.Config{URL: raw + "&client_encoding=LATIN1&datestyle=SQL", ExecMode: mode})
		metaIs(t, s, "日本", `\'`)
		owner := dbtest.Owner(t, s, string(mode))
		in := token(owner, "tok_"+string(mode), string(mode))
		in.Name = "日本"
		if err := s.Tx(ctx, func(q model.Querier) error { return q.TokenInsert(ctx, in) }); err != nil {
			t.Fatal(err)
		}
		got, err := s.TokenGet(ctx, model.TokenGetParams{ID: in.ID, OwnerID: owner.ID})
		if err != nil || got.Name != in.Name || !got.CreatedAt.Equal(in.CreatedAt) {
			t.Errorf("%s: got %+v, %v; want what was written: %+v", mode, got, err, in)
		}
	}
}

// A pooler that gives the server's connection other settings than its client
// asked for must not be written through.
func TestConnectionThatWasGivenOtherSettingsIsRefused(t *testing.T) {
	t.Parallel()
	raw := dbtest.Whole(t, store.Postgres)
	for asked, given := range map[string]string{
		"client_encoding\x00UTF8": "client_encoding\x00SJIS", "DateStyle\x00ISO": "DateStyle\x00SQL",
		"standard_conforming_strings\x00on": "standard_conforming_strings\x00no",
	} {
		wire, through := dbtest.Through(t, raw)
		wire.Set(func(p *dbtest.Proxy) {
			p.OnMsg = func(msg []byte) dbtest.Cut {
				if i := bytes.Index(msg, []byte(asked)); i >= 0 {
					copy(msg[i:], given)
				}
				return dbtest.Pass
			}
		})
		err := dbtest.Open(t, store.Config{URL: through}).Ping(t.Context())
		name, _, _ := strings.Cut(asked, "\x00")
		if schema.Code(err) != schema.CodeSession || !strings.Contains(err.Error(), "the connection has "+name) {
			t.Errorf("%s: %v, want a refusal that names it", name, err)
		}
	}
}

// Whichever connection a store makes, also the one that listens at an address of its own, is to a database that keeps every text.
func TestNoConnectionIsMadeToADatabaseOfAnotherEncoding(t *testing.T) {
	t.Parallel()
	latin1, ctx := dbtest.Latin1(t), t.Context()
	s := dbtest.Open(t, store.Config{URL: latin1})
	_, read := s.MetaGet(ctx, model.MetaGetParams{Key: "x"})
	_, listen := dbtest.Open(t, store.Config{URL: dbtest.Shared(t, store.Postgres), ListenURL: latin1}).Listen(ctx)
	for name, err := range map[string]error{"a read": read, "a write": write(ctx, s, "x"), "a probe": s.Ping(ctx), "the listening connection": listen} {
		if schema.Code(err) != schema.CodeEncoding {
			t.Errorf("%s: %v, want a refusal of LATIN1", name, err)
		}
	}
}

func TestTimeoutOfARoleEndsNoIdleConnection(t *testing.T) {
	t.Parallel()
	c := store.Config{URL: dbtest.Whole(t, store.Postgres) + "&idle_session_timeout=100", MaxConns: 1}
	got, err := store.ReadForTest(t, c, "select current_setting('idle_session_timeout')", func(*store.Store) {})
	if err != nil || got != "0" {
		t.Errorf("idle_session_timeout is %s, %v; want none", got, err)
	}
}

func TestPreparedStatementsAreNotPlannedAnewNorReadTables(t *testing.T) {
	t.Parallel()
	c := store.Config{URL: dbtest.Whole(t, store.Postgres), MaxConns: 1}
	got, err := store.ReadForTest(t, c, `select generic_plans || ' generic, ' || custom_plans || ' custom, whole tables ' || concat_ws(' ', current_setting('enable_seqscan'), current_setting('enable_hashjoin'), current_setting('enable_mergejoin'))
		from pg_prepared_statements where statement like '-- name: MetaGet %'`, func(s *store.Store) {
		for range 3 {
			metaIs(t, s, "key", "")
		}
	})
	if err != nil || got != "3 generic, 0 custom, whole tables off off off" {
		t.Errorf("the plans of a statement that ran three times are %s, %v", got, err)
	}
}

// Through a transaction pooler a connection is somebody else's afterwards.
func TestPoolerModesLeaveNothingBehindOnTheConnection(t *testing.T) {
	t.Parallel()
	c := store.Config{URL: dbtest.Whole(t, store.Postgres), ExecMode: store.Exec, MaxConns: 1}
	got, err := store.ReadForTest(t, c, "select current_setting('lock_timeout')", func(s *store.Store) {
		if err := write(t.Context(), s, "key"); err != nil {
			t.Fatal(err)
		}
	})
	if err != nil || got != "0" {
		t.Errorf("lock_timeout is %q, %v after a transaction; want 0", got, err)
	}
}

func TestServerThatCommitsAsynchronouslyIsMadeDurable(t *testing.T) {
	t.Parallel()
	raw := dbtest.Whole(t, store.Postgres)
	for _, mode := range []store.ExecMode{store.CacheStatement, store.Exec} {
		u, _ := url.Parse(raw)
		query := u.Query()
		query.Set("synchronous_commit", "off")
		u.RawQuery = query.Encode()
		s := dbtest.Open(t, store.Config{URL: u.String(), ExecMode: mode})
		err := s.Tx(t.Context(), func(q model.Querier) error {
			return store.ExecForTest(t.Context(), q, `do $$ begin
				if current_setting('synchronous_commit') <> 'on' then raise exception 'off'; end if; end $$`)
		})
		if err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func TestPoolSettingsOfTheURLStandUnlessTheConfigSaysOtherwise(t *testing.T) {
	t.Parallel()
	raw := dbtest.Whole(t, store.Postgres) + "&pool_max_conns=3"
	for conns, want := range map[int]int{0: 3, 5: 5} {
		s, err := store.Open(t.Context(), store.Config{URL: raw, MaxConns: conns})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Pool().Max; got != want {
			t.Errorf("the pool has %d connections, want %d", got, want)
		}
		s.Close()
	}
}

func TestUnknownSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []store.Config{
		{URL: "postgres://127.0.0.1:1/x", ExecMode: "describe_exec"},
		{URL: "sqlite:" + t.TempDir() + "/x.db", Durability: "off"},
	} {
		if s, err := store.Open(t.Context(), c); err == nil {
			s.Close()
			t.Errorf("%+v was opened", c)
		}
	}
}

package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// isFault checks that err is a retryable 503 of that code, and that what a
// client sees of it is not the driver's.
func isFault(t *testing.T, err error, code string) {
	t.Helper()
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != code || f.Status != 503 || f.RetryAfter <= 0 {
		t.Errorf("got %v, want a 503 %s with Retry-After", err, code)
		return
	}
	for _, word := range []string{"SQLSTATE", "pgx", "dial", "connect to", "127.0.0.1"} {
		if strings.Contains(f.Detail, word) {
			t.Errorf("the detail %q repeats the driver", f.Detail)
		}
	}
}

func write(ctx context.Context, s *store.Store, key string) error {
	return s.Tx(ctx, func(q model.Querier) error { return setMeta(ctx, q, key, "1") })
}

// shortWait is for tests whose wait must run out. A store that has it takes a
// connection in time only when nothing else happens to be slow, so what such a
// test wants to succeed it polls for.
const shortWait = 300 * time.Millisecond

// quick runs fn and fails the test if it waits much longer than shortWait.
func quick(t *testing.T, fn func() error) error {
	t.Helper()
	start := time.Now()
	err := fn()
	if took := time.Since(start); took >= 30*time.Second {
		t.Errorf("the answer took %v, want about %v", took, shortWait)
	}
	return err
}

// eventually polls fn, for what another process has to notice first.
func eventually(t *testing.T, what string, fn func() error) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := fn()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

// DBC-11: away at the start and later, by refusing and by silence.
func TestDatabaseThatWasAwayIsFoundAgain(t *testing.T) {
	t.Parallel()
	database := dbtest.Whole(t, store.Postgres)
	wire, raw := dbtest.Through(t, database)
	wire.GoDown()
	s := dbtest.Open(t, store.Config{URL: raw, Waits: store.Waits{Conn: shortWait}}) // no error, though nobody answers
	ctx := t.Context()

	for range 2 {
		isFault(t, quick(t, func() error { return s.Ping(ctx) }), "unavailable")
		isFault(t, quick(t, func() error { return write(ctx, s, "away") }), "unavailable")
		_, err := s.MetaGet(ctx, model.MetaGetParams{Key: "away"})
		isFault(t, store.Explain(err), "unavailable")
		wire.Set(func(p *dbtest.Proxy) { p.Down, p.Mute = false, true })
	}
	if now := s.Now(); !now.IsZero() {
		t.Errorf("a clock that was never measured shows %v", now)
	}

	wire.ComeBack()
	eventually(t, "ping", func() error { return s.Ping(ctx) })
	// A measure of the clock that just failed answers for a moment longer.
	eventually(t, "the first write", func() error { return write(ctx, s, "back") })
	wire.GoDown()
	isFault(t, quick(t, func() error { return write(ctx, s, "away") }), "unavailable")
	wire.ComeBack()
	eventually(t, "write", func() error { return write(ctx, s, "again") })
	direct := dbtest.Open(t, store.Config{URL: database})
	metaIs(t, direct, "back", "1")
	metaIs(t, direct, "away", "")
}

// CLK-01: replicas whose wall clocks are 90 s apart, either way, tell one time.
func TestReplicasWithWrongWallClocksTellTheDatabasesTime(t *testing.T) {
	raw := dbtest.Whole(t, store.Postgres)
	for _, skew := range []string{"90s", "-90s", "0s"} {
		t.Setenv("STINT_TEST_CLOCK_SKEW", skew)
		s := dbtest.Open(t, store.Config{URL: raw})
		now, err := s.Time(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var there time.Time
		if err := dbtest.DB(t, s).QueryRowContext(t.Context(), "select clock_timestamp()").Scan(&there); err != nil {
			t.Fatal(err)
		}
		if off := there.Sub(now.Time); off < -50*time.Millisecond || off > 30*time.Second {
			t.Errorf("with a wall clock off by %s the clock is %v behind the database's", skew, off)
		}
	}
}

// DBC-01: the server takes no writes any more, and later does again.
func TestReadOnlyServerIsLeftAndTheWritableOneFound(t *testing.T) {
	t.Parallel()
	raw := dbtest.Fresh(t, store.Postgres)
	s := dbtest.Open(t, store.Config{URL: raw, MaxConns: 4})
	ctx := t.Context()
	if err := write(ctx, s, "before"); err != nil {
		t.Fatal(err)
	}
	name := dbtest.Get[string](t, s, "select current_database()")
	db := dbtest.DB(t, s)
	admin := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	// A session keeps the default it began with, so the pool's own one is told too.
	admin("alter database " + name + " set default_transaction_read_only = on")
	told := s.Tx(ctx, func(q model.Querier) error {
		return store.ExecForTest(ctx, q, "set session characteristics as transaction read only")
	})
	if told != nil {
		t.Fatal(told)
	}
	isFault(t, quick(t, func() error { return write(ctx, s, "refused") }), "unavailable")
	eventually(t, "leave the read-only server", func() error {
		if open := s.Pool().Open; open != 0 {
			return fmt.Errorf("%d connections are kept", open)
		}
		return nil
	})
	isFault(t, quick(t, func() error { return s.Ping(ctx) }), "unavailable")

	admin("set default_transaction_read_only = off")
	admin("alter database " + name + " set default_transaction_read_only = off")
	eventually(t, "ping", func() error { return s.Ping(ctx) })
	if err := write(ctx, s, "after"); err != nil {
		t.Error(err)
	}
	metaIs(t, s, "refused", "")
}

func TestReadOnlyServerIsNotJoinedUnlessTheURLAllowsIt(t *testing.T) {
	t.Parallel()
	raw, ctx := dbtest.Fresh(t, store.Postgres), t.Context()
	first := dbtest.Open(t, store.Config{URL: raw})
	name := dbtest.Get[string](t, first, "select current_database()")
	dbtest.SQL(t, first, "alter database "+name+" set default_transaction_read_only = on")

	_, err := dbtest.Open(t, store.Config{URL: raw}).MetaGet(ctx, model.MetaGetParams{Key: "x"})
	isFault(t, store.Explain(err), "unavailable")
	s := dbtest.Open(t, store.Config{URL: raw + "&target_session_attrs=any"})
	metaIs(t, s, "x", "")
	isFault(t, write(ctx, s, "x"), "unavailable")
}

func TestReadOnlyConnectionsAreAllLeftAtTheFirstRefusal(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres), MaxConns: 2})
	ctx := t.Context()
	_ = s.Now() // measured: what follows waits for one connection only
	readOnly := func(q model.Querier) error {
		return store.ExecForTest(ctx, q, "set session characteristics as transaction read only")
	}
	err := s.Tx(ctx, func(q model.Querier) error { return errors.Join(readOnly(q), s.Tx(ctx, readOnly)) })
	if err != nil {
		t.Fatal(err)
	}
	isFault(t, write(ctx, s, "key"), "unavailable")
	if err := write(ctx, s, "key"); err != nil {
		t.Errorf("the next connection is no better: %v", err)
	}
}

// DBC-05: whoever asks the pool for a second connection while it holds the
// last one is refused in time.
func TestSecondConnectionWithinATransactionIsRefusedInTime(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres), MaxConns: 2, Waits: store.Waits{Conn: shortWait}})
	ctx := t.Context()
	_ = s.Now() // measured: what follows waits for one connection only
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			err := s.Tx(ctx, func(model.Querier) error {
				_, err := s.MetaGet(ctx, model.MetaGetParams{Key: "x"})
				return err
			})
			if err != nil && !store.NotFound(err) {
				isFault(t, err, "unavailable")
			}
		})
	}
	wg.Wait()
	eventually(t, "all connections are back", func() error { // a broken one is given back beside its request
		if in := s.Pool().InUse; in != 0 {
			return fmt.Errorf("%d are still taken", in)
		}
		return nil
	})
	eventually(t, "a ping", func() error { return s.Ping(ctx) })
}

// An operation may ask for the time inside its transaction, also the very first.
func TestClockIsMeasuredBeforeTheTransactionTakesTheLastConnection(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres), MaxConns: 1})
	err := s.Tx(t.Context(), func(model.Querier) error {
		if now := s.Now(); now.IsZero() {
			t.Error("there is no time inside the first transaction")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestBackgroundWorkLeavesHalfOfThePool(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres), MaxConns: 4, Waits: store.Waits{Conn: shortWait}})
	ctx, b := t.Context(), s.Background()
	held, release := make(chan struct{}, 2), make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			eventually(t, "take a quarter of the pool", func() error {
				return b.Tx(ctx, func(model.Querier) error {
					held <- struct{}{}
					<-release
					return nil
				})
			})
		})
		<-held
	}
	isFault(t, quick(t, func() error { return write(ctx, b, "third") }), "unavailable")
	eventually(t, "a request beside them", func() error { return write(ctx, s, "request") })
	close(release)
	wg.Wait()
	eventually(t, "background work after them", func() error { return write(ctx, b, "later") })
}

func TestLostCommitIsReportedAsUnknown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		where dbtest.Cut
		want  string
	}{"before it arrived": {dbtest.Before, ""}, "before its answer": {dbtest.After, "1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct := dbtest.Whole(t, store.Postgres)
			wire, raw := dbtest.Through(t, direct)
			s := dbtest.Open(t, store.Config{URL: raw})
			wire.Set(func(p *dbtest.Proxy) { p.OnMsg = dbtest.CutAt("commit\x00", tt.where) })
			isFault(t, write(t.Context(), s, "key"), "commit_unknown")
			metaIs(t, dbtest.Open(t, store.Config{URL: direct}), "key", tt.want)
			if err := write(t.Context(), s, "next"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestConnectionLostBeforeCommitIsUnavailable(t *testing.T) {
	t.Parallel()
	wire, raw := dbtest.Through(t, dbtest.Whole(t, store.Postgres))
	s := dbtest.Open(t, store.Config{URL: raw})
	wire.Set(func(p *dbtest.Proxy) { p.OnMsg = dbtest.CutAt("insert into meta", dbtest.After) })
	isFault(t, write(t.Context(), s, "key"), "unavailable")
	metaIs(t, s, "key", "")
}

// A restart of the server breaks connections that lie idle in the pool.
func TestTerminatedConnectionsAreReplaced(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)})
	ctx := t.Context()
	if err := write(ctx, s, "one"); err != nil {
		t.Fatal(err)
	}
	dbtest.SQL(t, s, `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid()`)
	eventually(t, "write", func() error { return write(ctx, s, "two") })
}

// DBC-08: two transactions that lock the same rows in different order.
func TestDeadlockRunsAgain(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		owner := dbtest.Owner(t, s, "ada")
		for _, key := range []string{"tok_a", "tok_b"} {
			err := s.Tx(ctx, func(q model.Querier) error { return q.TokenInsert(ctx, token(owner, key, key)) })
			if err != nil {
				t.Fatal(err)
			}
		}
		meet := newMeeting(s.Engine() == store.Postgres)
		var wg sync.WaitGroup
		for _, order := range [][]string{{"tok_a", "tok_b"}, {"tok_b", "tok_a"}} {
			wg.Go(func() {
				var once sync.Once
				err := s.Tx(ctx, func(q model.Querier) error {
					for _, key := range order {
						if err := touch(ctx, q, key); err != nil {
							return err
						}
						once.Do(meet.arrive)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

func touch(ctx context.Context, q model.Querier, tokenID string) error {
	_, err := q.TokenSetLastUsed(ctx, model.TokenSetLastUsedParams{ID: tokenID, LastUsedAt: dbtest.T0})
	return err
}

func TestWaitForALockedRowGivesUp(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres), Waits: store.Waits{Lock: 50 * time.Millisecond}})
	ctx := t.Context()
	err := s.Tx(ctx, func(q model.Querier) error {
		if err := setMeta(ctx, q, "key", "1"); err != nil {
			return err
		}
		var inner error
		err := s.Tx(ctx, func(q2 model.Querier) error {
			inner = setMeta(ctx, q2, "key", "2")
			return inner
		})
		if !store.LockTimeout(inner) {
			t.Errorf("got %v, want a lock timeout", inner)
		}
		isFault(t, err, "unavailable")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

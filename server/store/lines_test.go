package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// warm opens a store through a proxy, with connections that were used just now:
// they are not tried before they are taken again.
func warm(t *testing.T, w store.Waits) (*dbtest.Proxy, *store.Store) {
	t.Helper()
	wire, raw := dbtest.Through(t, dbtest.Whole(t, store.Postgres))
	s := dbtest.Open(t, store.Config{URL: raw, MaxConns: 4, Waits: w})
	eventually(t, "warm up", func() error { return errors.Join(s.Ping(t.Context()), write(t.Context(), s, "warm")) })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_ = s.Tx(t.Context(), func(q model.Querier) error { return setMeta(t.Context(), q, "warm", "1") })
		})
	}
	wg.Wait()
	return wire, s
}

// unanswered runs fn, which has to give up long before its caller does.
func unanswered(t *testing.T, what string, fn func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := store.Explain(fn(ctx))
	if ctx.Err() != nil {
		t.Fatalf("%s: it waited as long as its caller", what)
	}
	isFault(t, err, "unavailable")
}

func TestNothingWaitsForALineThatStoppedPassingBytes(t *testing.T) {
	t.Parallel()
	for name, fn := range map[string]func(ctx context.Context, s *store.Store) error{
		"one row": func(ctx context.Context, s *store.Store) error {
			_, err := s.MetaGet(ctx, model.MetaGetParams{Key: "warm"})
			return err
		},
		"rows": func(ctx context.Context, s *store.Store) error {
			_, err := s.KindPage(ctx, model.KindPageParams{Max: 5})
			return err
		},
		"a pass":     func(ctx context.Context, s *store.Store) error { return write(ctx, s.Background(), "pass") },
		"the clock":  func(ctx context.Context, s *store.Store) error { return s.Remeasure(ctx) },
		"a ping":     func(ctx context.Context, s *store.Store) error { return s.Ping(ctx) },
		"a probe":    func(ctx context.Context, s *store.Store) error { return s.TryWrite(ctx) },
		"the schema": func(ctx context.Context, s *store.Store) error { _, err := s.Gap(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire, s := warm(t, store.Waits{Conn: shortWait})
			wire.Freeze()
			wire.Set(func(p *dbtest.Proxy) { p.Mute = true })
			unanswered(t, name, func(ctx context.Context) error { return fn(ctx, s) })
		})
	}
	t.Run("within a transaction", func(t *testing.T) {
		t.Parallel()
		wire, s := warm(t, store.Waits{Conn: shortWait})
		unanswered(t, "a statement", func(ctx context.Context) error {
			return s.Tx(ctx, func(q model.Querier) error {
				wire.Freeze()
				wire.Set(func(p *dbtest.Proxy) { p.Mute = true })
				return setMeta(ctx, q, "frozen", "1")
			})
		})
		if open := s.Pool().Open; open != 0 {
			t.Errorf("%d connections that are as old are kept", open)
		}
	})
}

// A firewall that forgot its connections passes new ones.
func TestReadsAndWritesLeaveConnectionsThatNobodyAnswersOn(t *testing.T) {
	t.Parallel()
	wire, s := warm(t, store.Waits{Conn: 3 * time.Second})
	wire.Freeze()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { metaIs(t, s, "warm", "1") })
	}
	wg.Wait()
	wire.Freeze()
	if err := write(t.Context(), s, "next"); err != nil {
		t.Error(err)
	}
}

// Where one that lay idle is dead the others are as old: there is not the time to try each.
func TestConnectionsThatLayIdleAreNotTriedOneByOne(t *testing.T) {
	t.Parallel()
	wire, s := warm(t, store.Waits{Conn: 3 * time.Second}) // each try may take a third of it, and there are four
	var open, done sync.WaitGroup
	open.Add(4)
	for range 4 {
		once := sync.OnceFunc(open.Done)
		done.Go(func() {
			_ = s.Tx(t.Context(), func(model.Querier) error { once(); open.Wait(); return nil })
		})
	}
	done.Wait()
	<-time.After(store.StaleAfterForTest) // so long is what it takes
	wire.Freeze()
	if err := write(t.Context(), s, "next"); err != nil {
		t.Error(err)
	}
}

// A statement that the database works on may take its time.
func TestSlowStatementIsNotTakenForASilentOne(t *testing.T) {
	t.Parallel()
	wire, s := warm(t, store.Waits{Conn: shortWait})
	before := wire.Count()
	err := s.Tx(t.Context(), func(q model.Querier) error {
		return store.ExecForTest(t.Context(), q, "select pg_sleep(1)") // three times what Conn allows
	})
	if err != nil || wire.Count() != before {
		t.Errorf("%v, and %d connections were made", err, wire.Count()-before)
	}
}

// A caller's own deadline stands for how long the answer is of use.
func TestStatementEndsWithItsCallersDeadline(t *testing.T) {
	t.Parallel()
	_, s := warm(t, store.Waits{})
	began := time.Now()
	err := s.Tx(t.Context(), func(q model.Querier) error {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		return store.ExecForTest(ctx, q, "select pg_sleep(10)")
	})
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 8*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}

// A restart or a failover breaks all connections at once.
func TestNoReadFailsForTerminatedConnections(t *testing.T) {
	t.Parallel()
	_, s := warm(t, store.Waits{})
	for range 20 {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { metaIs(t, s, "warm", "1") })
		}
		wg.Wait()
		dbtest.SQL(t, s, `select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and pid <> pg_backend_pid()`)
	}
}

// Who terminates all sessions also meets those that are being made; the next ones are let in.
func TestConnectionThatIsTerminatedWhileItIsMadeIsMadeAnew(t *testing.T) {
	t.Parallel()
	direct := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)})
	wire, raw := dbtest.Through(t, dbtest.URLOf(t, direct))
	var terminated atomic.Int32
	wire.Set(func(p *dbtest.Proxy) {
		p.OnMsg = func(msg []byte) dbtest.Cut {
			if bytes.Contains(msg, []byte("set plan_cache_mode")) && terminated.Add(1) <= 2 {
				dbtest.SQL(t, direct, `select pg_terminate_backend(pid, 10000) from pg_stat_activity
					where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
			}
			return dbtest.Pass
		}
	})
	s := dbtest.Open(t, store.Config{URL: raw, MaxConns: 1, Waits: store.Waits{Conn: 10 * time.Second}})
	metaIs(t, s, "k", "")
	if n := terminated.Load(); n != 3 {
		t.Errorf("%d sessions were made, and two of them terminated", n)
	}
}

// Cancelling a statement of PostgreSQL costs its connection.
func TestClientsThatGiveUpCostNoConnection(t *testing.T) {
	t.Parallel()
	wire, s := warm(t, store.Waits{})
	before := wire.Count()
	for _, fn := range []func(ctx context.Context) error{
		func(ctx context.Context) error {
			_, err := s.MetaGet(ctx, model.MetaGetParams{Key: "warm"})
			return err
		},
		func(ctx context.Context) error {
			_, err := s.KindPage(ctx, model.KindPageParams{Max: 5})
			return err
		},
		func(ctx context.Context) error { return write(ctx, s, "given up") },
	} {
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			wire.Set(func(p *dbtest.Proxy) { p.OnMsg = func([]byte) dbtest.Cut { cancel(); return dbtest.Pass } })
			var f *fault.Fault
			if err := fn(ctx); errors.As(err, &f) {
				t.Errorf("who gave up is told %v", err)
			}
			wire.Set(func(p *dbtest.Proxy) { p.OnMsg = nil })
			cancel()
		}
	}
	metaIs(t, s, "given up", "")
	if made := wire.Count() - before; made != 0 {
		t.Errorf("%d connections were made anew", made)
	}
}

// A pool is not full of connections that it gave up.
func TestConnectionWhoseTrialIsRefusedIsClosed(t *testing.T) {
	t.Parallel()
	wire, raw := dbtest.Through(t, dbtest.Whole(t, store.Postgres))
	s := dbtest.Open(t, store.Config{URL: raw, MaxConns: 1})
	metaIs(t, s, "idle", "")
	before := wire.Open()
	wire.Set(func(p *dbtest.Proxy) {
		p.OnMsg = func(msg []byte) dbtest.Cut {
			copy(msg, bytes.ReplaceAll(msg, []byte("-- ping"), []byte("refuse!")))
			return dbtest.Pass
		}
	})
	<-time.After(1100 * time.Millisecond) // idle for so long that it is tried
	taken := wire.Count()
	metaIs(t, s, "idle", "")
	if wire.Count() == taken {
		t.Fatal("the connection was not replaced")
	}
	eventually(t, "the refused one is closed", func() error {
		if now := wire.Open(); now > before {
			return fmt.Errorf("%d connections, %d before", now, before)
		}
		return nil
	})
}

func TestNoConnectionIsMadeForAStoreThatIsClosed(t *testing.T) {
	t.Parallel()
	wire, raw := dbtest.Through(t, dbtest.Whole(t, store.Postgres))
	wire.Set(func(p *dbtest.Proxy) { p.Slow = 300 * time.Millisecond })
	s := dbtest.Open(t, store.Config{URL: raw})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Ping(ctx) })
	eventually(t, "a connection is being made", func() error {
		if wire.Count() == 0 {
			return errors.New("none")
		}
		return nil
	})
	cancel()
	wg.Wait()
	s.Close()
	eventually(t, "all connections are closed", func() error {
		if n := wire.Open(); n > 0 {
			return fmt.Errorf("%d are open", n)
		}
		return nil
	})
}

// A caller who waits for less time than all others says nothing of the database.
func TestOwnDeadlineIsNoTrouble(t *testing.T) {
	t.Parallel()
	waits := store.Waits{Conn: time.Second, Writer: time.Second}
	dbtest.EachWith(t, dbtest.Whole, store.Config{MaxConns: 1, Waits: waits}, func(t *testing.T, s *store.Store) {
		err := s.Tx(t.Context(), func(model.Querier) error {
			before := s.Troubles()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := write(ctx, s, "own"); err == nil || s.Troubles() != before {
				t.Errorf("after a wait of 50 ms: %v, and %d troubles", err, s.Troubles()-before)
			}
			if err := write(t.Context(), s, "whole"); err == nil || s.Troubles() != before+1 {
				t.Errorf("after the whole wait: %v, and %d troubles", err, s.Troubles()-before)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

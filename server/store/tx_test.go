package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// setMeta writes one row, for tests that need any row at all.
func setMeta(ctx context.Context, q model.Querier, key, value string) error {
	_, err := q.MetaInsert(ctx, model.MetaInsertParams{Key: key, Value: value})
	return err
}

func metaIs(t *testing.T, r model.Reader, key, want string) {
	t.Helper()
	got, err := r.MetaGet(t.Context(), model.MetaGetParams{Key: key})
	if store.NotFound(err) {
		got, err = "", nil
	}
	if err != nil || got != want {
		t.Errorf("meta %s is %q, %v; want %q", key, got, err, want)
	}
}

func TestTxCommitsWhatFnWroteAndRollsBackWhenItFails(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		if err := s.Tx(ctx, func(q model.Querier) error { return setMeta(ctx, q, "kept", "1") }); err != nil {
			t.Fatal(err)
		}
		boom := errors.New("boom")
		err := s.Tx(ctx, func(q model.Querier) error {
			return errors.Join(setMeta(ctx, q, "lost", "1"), boom)
		})
		if !errors.Is(err, boom) {
			t.Errorf("got %v, want the error of fn", err)
		}
		metaIs(t, s, "kept", "1")
		metaIs(t, s, "lost", "")
	})
}

// TestTransactionOfAProcessThatSleptBeginsAnew: the time is measured between
// transactions, never inside one, where it would take a second connection.
func TestTransactionOfAProcessThatSleptBeginsAnew(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx, runs := t.Context(), 0
		err := s.Tx(ctx, func(q model.Querier) error {
			if runs++; runs == 1 {
				store.SleepForTest(s)
			}
			now, err := s.TxTime()
			if err == nil && now.IsZero() {
				t.Error("TxTime shows nothing")
			}
			return errors.Join(setMeta(ctx, q, "run", fmt.Sprint(runs)), err)
		})
		if err != nil || runs != 2 {
			t.Errorf("%v after %d runs, want none after 2", err, runs)
		}
		metaIs(t, s, "run", "2")
		always := s.Tx(ctx, func(model.Querier) error {
			store.SleepForTest(s)
			_, err := s.TxTime()
			return err
		})
		isFault(t, always, "unavailable")
	})
}

func TestFaultOfFnRollsBackAndPassesUnchanged(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx, runs, want := t.Context(), 0, fault.NotFound()
		err := s.Tx(ctx, func(q model.Querier) error {
			runs++
			return errors.Join(setMeta(ctx, q, "lost", "1"), want)
		})
		var got *fault.Fault
		if !errors.As(err, &got) || got != want || runs != 1 {
			t.Errorf("got %v after %d runs, want the fault of fn after 1", err, runs)
		}
		metaIs(t, s, "lost", "")
	})
}

func TestPanicInFnRollsBackAndGoesOn(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		func() {
			defer func() {
				if recover() != "boom" {
					t.Error("the panic did not go on")
				}
			}()
			_ = s.Tx(ctx, func(q model.Querier) error {
				_ = setMeta(ctx, q, "lost", "1")
				panic("boom")
			})
		}()
		metaIs(t, s, "lost", "")
		if in := s.Pool().InUse; in != 0 {
			t.Errorf("%d connections are still taken", in)
		}
	})
}

func TestSavepointRollsBackOnlyItsOwnWrites(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx, boom := t.Context(), errors.New("boom")
		err := s.Tx(ctx, func(q model.Querier) error {
			_ = setMeta(ctx, q, "before", "1")
			err := store.Savepoint(ctx, q, func() error {
				_ = setMeta(ctx, q, "inside", "1")
				return store.Savepoint(ctx, q, func() error {
					_ = setMeta(ctx, q, "deep", "1")
					return boom
				})
			})
			if err != boom {
				t.Errorf("got %v, want the error of fn itself", err)
			}
			return store.Savepoint(ctx, q, func() error { return setMeta(ctx, q, "after", "1") })
		})
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"before": "1", "inside": "", "deep": "", "after": "1"} {
			metaIs(t, s, key, want)
		}
	})
}

func TestSavepointOutsideATransactionIsRefused(t *testing.T) {
	t.Parallel()
	if err := store.Savepoint(t.Context(), nil, func() error { return nil }); err == nil {
		t.Error("a savepoint without a transaction was taken")
	}
}

// Two transactions look first, meet, and insert then: one loses the unique key,
// runs again and sees the winner's row.
func TestLoserOfAUniqueKeyRunsAgainAndSeesTheRow(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx, owner := t.Context(), dbtest.Owner(t, s, "ada")
		meet := newMeeting(s.Engine() == store.Postgres)
		var made, found atomic.Int64
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				var once sync.Once
				err := s.Tx(ctx, func(q model.Querier) error {
					_, err := q.TokenGetByHash(ctx, model.TokenGetByHashParams{Hash: "one"})
					once.Do(meet.arrive)
					if err == nil {
						found.Add(1)
						return nil
					}
					err = q.TokenInsert(ctx, token(owner, fmt.Sprintf("tok_%d", i), "one"))
					if err == nil {
						made.Add(1)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if made.Load() != 1 || found.Load() != 1 {
			t.Errorf("%d made the row and %d found it, want 1 and 1", made.Load(), found.Load())
		}
	})
}

// meeting holds the first of two until the second one is there too. On SQLite,
// with one writer, they cannot meet.
type meeting struct {
	on bool
	wg *sync.WaitGroup
}

func newMeeting(on bool) meeting {
	m := meeting{on, new(sync.WaitGroup)}
	m.wg.Add(2)
	return m
}

func (m meeting) arrive() {
	if m.on {
		m.wg.Done()
		m.wg.Wait()
	}
}

func token(owner model.Owner, id, hash string) model.TokenInsertParams {
	return model.TokenInsertParams{
		ID: id, OwnerID: owner.ID, Name: id, Hash: hash, Scopes: []byte(`[]`), CreatedAt: dbtest.T0, Kind: "bearer",
	}
}

func TestUniqueViolationThatStaysIsReturnedAfterAFewRuns(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx, runs := t.Context(), 0
		owner := dbtest.Owner(t, s, "ada")
		err := s.Tx(ctx, func(q model.Querier) error {
			runs++
			return errors.Join(
				q.TokenInsert(ctx, token(owner, "tok_1", "one")),
				q.TokenInsert(ctx, token(owner, "tok_2", "one")))
		})
		if !store.UniqueViolation(err) || runs != 3 {
			t.Errorf("got %v after %d runs, want a unique violation after 3", err, runs)
		}
	})
}

func TestNothingRunsAgainOnceTheContextIsDone(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		owner, runs := dbtest.Owner(t, s, "ada"), 0
		err := s.Tx(ctx, func(q model.Querier) error {
			runs++
			_ = q.TokenInsert(ctx, token(owner, "tok_1", "one"))
			err := q.TokenInsert(ctx, token(owner, "tok_2", "one"))
			cancel()
			return err
		})
		if err == nil || runs != 1 {
			t.Errorf("got %v after %d runs, want an error after 1", err, runs)
		}
	})
}

func TestNothingIsCommittedOnceTheContextIsDone(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Tx(ctx, func(q model.Querier) error {
			err := setMeta(ctx, q, "lost", "1")
			cancel()
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		metaIs(t, s, "lost", "")
	})
}

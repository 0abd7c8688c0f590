package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// product opens a store with the product's settings, which those of dbtest are
// not.
func product(t *testing.T, c store.Config) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestGapNamesWhatIsPending(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{store.SQLite, store.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			empty := dbtest.Open(t, store.Config{URL: dbtest.Empty(t, engine)})
			gap, err := empty.Gap(t.Context())
			if err != nil || len(gap.Pending) != len(schema.Expected(engine)) || len(gap.Ahead) != 0 {
				t.Errorf("an empty database has the gap %+v, %v", gap, err)
			}
			full := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, engine)})
			dbtest.SQL(t, full, "insert into schema_migrations (version) values ('9999')")
			gap, err = full.Gap(t.Context())
			if err != nil || len(gap.Pending) != 0 || len(gap.Ahead) != 1 {
				t.Errorf("a newer database has the gap %+v, %v", gap, err)
			}
		})
	}
}

// Statements are counted alike on both engines; the clock, BEGIN, COMMIT and
// savepoints are not.
func TestStatementsOfARequestAreCounted(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ctx, stats := store.WithStats(t.Context())
		_ = s.Now()
		err := s.Tx(ctx, func(q model.Querier) error {
			return store.Savepoint(ctx, q, func() error { return setMeta(ctx, q, "key", "1") })
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.MetaGet(ctx, model.MetaGetParams{Key: "key"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.KindPage(ctx, model.KindPageParams{Max: 5}); err != nil {
			t.Fatal(err)
		}
		_, err = s.MetaGet(store.Uncounted(ctx), model.MetaGetParams{Key: "none"})
		if !store.NotFound(err) {
			t.Errorf("got %v, want a row not found", err)
		}
		if n := stats.Statements(); n != 3 {
			t.Errorf("%d statements counted, want 3", n)
		}
		if d := stats.Duration(); d <= 0 || d > time.Minute {
			t.Errorf("they took %v", d)
		}
	})
}

func TestOtherErrorsPassExplainUnchanged(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("other"), context.Canceled} {
		if got := store.Explain(err); got != err {
			t.Errorf("Explain(%v) is %v", err, got)
		}
	}
}

package dbtest_test

import (
	"database/sql"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

func TestEveryTestHasAFreshMigratedDatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	for range 2 {
		dbtest.Each(t, func(t *testing.T, s *store.Store) {
			owner := dbtest.Owner(t, s, "ada") // taken, if the database were shared
			kinds, err := s.KindPage(t.Context(), model.KindPageParams{OwnerID: owner.ID, Max: 10})
			if err != nil || len(kinds) != 4 {
				t.Errorf("the owner has %d kinds, %v; want 4", len(kinds), err)
			}
			if err := schema.Verify(t.Context(), schema.Options{URL: dbtest.URLOf(t, s)}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDatabaseIsGoneAfterItsTest(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("test", func(t *testing.T) {
		s := dbtest.Open(t, store.Config{URL: dbtest.URL(t, store.Postgres)})
		name = dbtest.Get[string](t, s, "select current_database()")
	})
	s := dbtest.Open(t, store.Config{URL: dbtest.URL(t, store.Postgres)})
	if n := dbtest.Get[int](t, s, "select count(*) from pg_database where datname = $1", name); n != 0 {
		t.Errorf("the database %s is still there", name)
	}
}

func TestClockOfATestStandsUntilItIsMoved(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		clock := dbtest.Freeze(s)
		if now := s.Now(); !now.Equal(dbtest.T0) {
			t.Errorf("the clock shows %v, want %v", now, dbtest.T0)
		}
		clock.Advance(3_000_000_000)
		if now := s.Background().Now(); !now.Equal(dbtest.T0.Add(3_000_000_000)) {
			t.Errorf("the clock shows %v, want 3s later", now)
		}
	})
}

func TestSQLPlantsWhatGetReads(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		dbtest.SQL(t, s, "insert into meta (key, value) values ($1, $2)", "k", "v")
		if got := dbtest.Get[sql.NullString](t, s, "select value from meta where key = $1", "k"); got.String != "v" {
			t.Errorf("read %+v, want v", got)
		}
	})
}

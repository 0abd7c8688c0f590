package dbtest_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

func TestEveryDatabaseIsMigratedAndEveryOwnerItsOwn(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(*testing.T, string) string{
		"shared": dbtest.Shared, "whole": dbtest.Whole, "fresh": dbtest.Fresh,
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.EachWith(t, url, store.Config{}, func(t *testing.T, s *store.Store) {
				for range 2 {
					owner := dbtest.Owner(t, s, "ada")
					kinds, err := s.KindPage(t.Context(), model.KindPageParams{OwnerID: owner.ID, Max: 10})
					if err != nil || len(kinds) != 4 {
						t.Errorf("the owner has %d kinds, %v; want 4", len(kinds), err)
					}
				}
				if err := schema.Verify(t.Context(), schema.Options{URL: dbtest.URLOf(t, s)}); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestSharedDatabaseIsOneAndHasAClockPerTest(t *testing.T) {
	t.Parallel()
	var names []string
	for range 2 {
		t.Run("test", func(t *testing.T) {
			s := dbtest.Open(t, store.Config{URL: dbtest.Shared(t, store.Postgres)})
			names = append(names, dbtest.Get[string](t, s, "select current_database()"))
		})
	}
	if names[0] != names[1] {
		t.Errorf("the databases %v are two", names)
	}
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		clock := dbtest.Freeze(s)
		if now := s.Now(); !now.Equal(dbtest.T0) {
			t.Errorf("the clock shows %v, want %v", now, dbtest.T0)
		}
		clock.Advance(3 * time.Second)
		if now := s.Background().Now(); !now.Equal(dbtest.T0.Add(3 * time.Second)) {
			t.Errorf("the clock shows %v, want 3s later", now)
		}
	})
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		if now := s.Now(); now.Before(dbtest.T0.Add(time.Hour)) {
			t.Errorf("the clock of another test shows %v", now)
		}
	})
}

func TestWholeDatabaseIsEmptyAgain(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{1, 50_000} { // deleted, and truncated
		for range 2 {
			t.Run("test", func(t *testing.T) {
				s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)})
				if n := dbtest.Get[int](t, s, "select (select count(*) from owners) + (select count(*) from meta)"); n != 0 {
					t.Errorf("%d rows of another test are there", n)
				}
				dbtest.Owner(t, s, "ada")
				dbtest.SQL(t, s, "insert into meta (key, value) select i::text, '' from generate_series(1, $1) i", rows)
			})
		}
	}
}

func TestFreshDatabaseIsGoneAfterItsTest(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("test", func(t *testing.T) {
		s := dbtest.Open(t, store.Config{URL: dbtest.Fresh(t, store.Postgres)})
		name = dbtest.Get[string](t, s, "select current_database()")
	})
	s := dbtest.Open(t, store.Config{URL: dbtest.Shared(t, store.Postgres)})
	if n := dbtest.Get[int](t, s, "select count(*) from pg_database where datname = $1", name); n != 0 {
		t.Errorf("the database %s is still there", name)
	}
}

func TestSQLPlantsWhatGetReads(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		key := dbtest.Owner(t, s, "ada").ID
		dbtest.SQL(t, s, "insert into meta (key, value) values ($1, $2)", key, "v")
		if got := dbtest.Get[sql.NullString](t, s, "select value from meta where key = $1", key); got.String != "v" {
			t.Errorf("read %+v, want v", got)
		}
	})
}

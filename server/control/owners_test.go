package control_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

func create(t *testing.T, s *store.Store, name string) (owner model.Owner, made bool, err error) {
	t.Helper()
	err = s.Tx(t.Context(), func(q model.Querier) (err error) {
		owner, made, err = control.CreateOwner(t.Context(), q, dbtest.T0, name)
		return err
	})
	return owner, made, err
}

func kinds(t *testing.T, s *store.Store, ownerID string) []model.JobKind {
	t.Helper()
	rows, err := s.KindPage(t.Context(), model.KindPageParams{OwnerID: ownerID, Max: 100})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestOwnerComesWithTheBuiltinKinds(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		owner, made, err := create(t, s, "ada")
		if err != nil || !made {
			t.Fatalf("made %v, %v", made, err)
		}
		var names []string
		for _, kind := range kinds(t, s, owner.ID) {
			names = append(names, kind.Name)
			if kind.LeaseSeconds != 60 || kind.MaxAttempts != 5 || kind.BackoffBaseSeconds != 5 || kind.BackoffCapSeconds != 3600 {
				t.Errorf("kind %s starts as %+v", kind.Name, kind)
			}
		}
		if want := slices.Sorted(slices.Values(control.BuiltinKinds)); !slices.Equal(names, want) {
			t.Errorf("the kinds are %v, want %v", names, want)
		}
		again, made, err := create(t, s, "ada")
		if err != nil || made || again != owner {
			t.Errorf("made again: %+v, %v, %v; want %+v", again, made, err, owner)
		}
	})
}

func TestOwnerMadeByManyAtOnceIsOne(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		var made atomic.Int64
		var ids sync.Map
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				owner, first, err := create(t, s, "ada")
				if err != nil {
					t.Error(err)
				}
				if first {
					made.Add(1)
				}
				ids.Store(owner.ID, true)
			})
		}
		wg.Wait()
		n := 0
		ids.Range(func(any, any) bool { n++; return true })
		if made.Load() != 1 || n != 1 {
			t.Errorf("made %d times, %d ids", made.Load(), n)
		}
	})
}

func TestOwnerNamesFollowTheRule(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		for name, want := range map[string]bool{
			"a": true, "0": true, "a-b_c9": true, strings.Repeat("a", 63): true,
			"": false, "-a": false, "_a": false, "A": false, "a b": false, "ä": false, "a\n": false,
			strings.Repeat("a", 64): false, "a/b": false,
		} {
			_, _, err := create(t, s, name)
			var f *fault.Fault
			if (err == nil) != want || (err != nil && (!errors.As(err, &f) || f.Status != 422)) {
				t.Errorf("owner %q: got %v, want taken %v", name, err, want)
			}
		}
	})
}

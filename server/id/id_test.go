package id_test

import (
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/stint-run/stint/server/id"
)

func TestIdsSortInTheOrderTheyWereMade(t *testing.T) {
	t.Parallel()
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = id.New("job")
	}
	if !slices.IsSorted(ids) {
		t.Fatal("ids of one process are not in creation order")
	}
	if len(slices.Compact(ids)) != 10_000 {
		t.Fatal("an id was made twice")
	}
}

func TestIdsOfParallelMakersAreDistinct(t *testing.T) {
	t.Parallel()
	var seen sync.Map
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1_000 {
				if _, dup := seen.LoadOrStore(id.New("run"), true); dup {
					t.Error("an id was made twice")
				}
			}
		})
	}
	wg.Wait()
}

func TestIdCarriesItsPrefix(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^prop_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if got := id.New("prop"); !form.MatchString(got) {
		t.Fatalf("id %q has another form", got)
	}
}

package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// flush is one pass of the loop that writes; it returns its statements.
func flush(t *testing.T, s *store.Store, w *control.Workers) int64 {
	t.Helper()
	ctx, stats := store.WithStats(t.Context())
	if _, err := w.Loops()[0].Run(ctx, s); err != nil {
		t.Fatal(err)
	}
	return stats.Statements()
}

func seen(t *testing.T, s *store.Store, ownerID string) []string {
	t.Helper()
	rows, err := s.WorkerPage(t.Context(), model.WorkerPageParams{OwnerID: ownerID, Max: 100})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprint(r.Name, " ", r.FirstSeenAt.Sub(dbtest.T0), " ", r.LastSeenAt.Sub(dbtest.T0)))
	}
	return out
}

func TestWorkersAreWrittenInOneStatementAndNeverMovedBack(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ada, bob := dbtest.Owner(t, s, "ada").ID, dbtest.Owner(t, s, "bob").ID
		w, other := control.NewWorkers(), control.NewWorkers()
		at := func(seconds int) coltype.Time { return dbtest.T0.Add(time.Duration(seconds) * time.Second) }
		w.Note(ada, "a", at(2))
		w.Note(ada, "a", at(1))
		w.Note(ada, "b", at(3))
		w.Note(bob, "a", at(4))
		if n := flush(t, s, w); n != 1 {
			t.Errorf("three workers took %d statements", n)
		}
		if n := flush(t, s, w); n != 0 {
			t.Errorf("nothing new took %d statements", n)
		}
		other.Note(ada, "a", at(9))
		other.Note(ada, "b", at(1))
		flush(t, s, other)
		if got := fmt.Sprint(seen(t, s, ada), seen(t, s, bob)); got != "[a 2s 9s b 3s 3s] [a 4s 4s]" {
			t.Error(got)
		}
	})
}

func TestWhatCouldNotBeWrittenWaitsForTheNextFlush(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ada := dbtest.Owner(t, s, "ada").ID
		w := control.NewWorkers()
		w.Note(ada, "a", dbtest.T0)
		w.Note("own_unknown", "a", dbtest.T0)
		if _, err := w.Loops()[0].Run(t.Context(), s); err == nil {
			t.Fatal("a worker of nobody was written")
		}
		dbtest.SQL(t, s, "insert into owners (id, name, created_at) select 'own_unknown', 'late', created_at from owners")
		flush(t, s, w)
		if got := fmt.Sprint(seen(t, s, ada), seen(t, s, "own_unknown")); got != "[a 0s 0s] [a 0s 0s]" {
			t.Error(got)
		}
	})
}

func TestWorkersThatAreNoLongerSeenAreForgotten(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ada := dbtest.Owner(t, s, "ada").ID
		w := control.NewWorkers()
		week := 7 * 24 * time.Hour
		w.Note(ada, "gone", dbtest.T0.Add(-week-time.Second))
		w.Note(ada, "here", dbtest.T0.Add(-week))
		flush(t, s, w)
		err := s.Tx(t.Context(), func(q model.Querier) error {
			n, err := control.SweepWorkers(t.Context(), q, dbtest.T0)
			if n != 1 {
				t.Errorf("forgot %d", n)
			}
			return err
		})
		if got := seen(t, s, ada); err != nil || len(got) != 1 || got[0][:4] != "here" {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestTheNotesOfWorkersAreBounded(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		ada := dbtest.Owner(t, s, "ada").ID
		w := control.NewWorkers()
		for i := range 12_000 {
			w.Note(ada, fmt.Sprint("w", i), dbtest.T0)
		}
		flush(t, s, w)
		if n := dbtest.Get[int](t, s, "select count(*) from workers"); n != 10_000 {
			t.Errorf("%d workers were noted", n)
		}
	})
}

package control_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/store"
)

func TestReadyOnceEveryMigrationIsApplied(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{store.SQLite, store.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := dbtest.Open(t, store.Config{URL: dbtest.Empty(t, engine)})
			r := control.NewReadiness(s, nil, nil)
			var f *fault.Fault
			if err := r.Ready(t.Context()); !errors.As(err, &f) || f.Status != 503 || !strings.Contains(f.Detail, "0001") {
				t.Errorf("an empty database: %v, want a 503 naming 0001", err)
			}
			if h := health(t, r); h.Schema != control.SchemaPending || h.Database != control.Reachable {
				t.Errorf("an empty database: %+v", h)
			}
		})
	}
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		runner, err := control.NewRunner(s, slog.New(slog.DiscardHandler), control.Loop{Name: "reaper", Every: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		r := control.NewReadiness(s, runner, nil)
		if err := r.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		h := health(t, r)
		if h.Schema != control.SchemaCurrent || h.Pool.Max == 0 || len(h.Loops) != 1 || h.Loops[0].AgeSeconds != nil {
			t.Errorf("the detail is %+v", h)
		}
	})
}

func TestNewerSchemaUnderARunningProcessStaysReady(t *testing.T) {
	t.Parallel()
	dbtest.EachFresh(t, func(t *testing.T, s *store.Store) {
		r := control.NewReadiness(s, nil, nil)
		dbtest.SQL(t, s, "insert into schema_migrations (version) values ('9999')")
		if err := r.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		if h := health(t, r); h.Schema != control.SchemaAhead || len(h.Ahead) != 1 || h.Ahead[0] != "9999" {
			t.Errorf("the detail is %+v", h)
		}
	})
}

func TestNotReadyWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: "postgres://ada@127.0.0.1:1/stint?sslmode=disable"})
	r := control.NewReadiness(s, nil, nil)
	var f *fault.Fault
	if err := r.Ready(t.Context()); !errors.As(err, &f) || f.Status != 503 || f.RetryAfter == 0 {
		t.Errorf("got %v, want a 503 with Retry-After", err)
	}
	if h := health(t, r); h.Database != control.Unreachable || h.Schema != control.Unknown {
		t.Errorf("the detail is %+v", h)
	}
}

func TestVerboseShowsTheOldestOverdueLease(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		now := dbtest.T0
		s.SetClock(func() coltype.Time { return now })
		owner := dbtest.Owner(t, s, "ada")
		r := control.NewReadiness(s, nil, jobs.OldestOverdue)
		if got := health(t, r).OldestOverdueSeconds; got != nil {
			t.Errorf("without a claim: %v", *got)
		}
		for i, age := range []int64{-60, 30, 90} {
			dbtest.SQL(t, s, `insert into jobs (id, owner_id, kind, state, payload, priority, run_at, attempt, max_attempts,
				lease_token, claimed_by, lease_expires_at, created_at, updated_at)
				select $1, $2, 'review', 'claimed', '{}', 3, created_at, 1, 5, 'l', 'w', `+at(s, now, -age)+`, created_at, created_at
				from owners where id = $2`, fmt.Sprint("job_", i), owner.ID)
			got := health(t, r).OldestOverdueSeconds
			if (got != nil) != (age > 0) || got != nil && *got != float64(age) {
				t.Errorf("oldest overdue lease: %v, want that of %d s", got, age)
			}
		}
	})
}

// Whoever asks often, without a token, costs the database no more than a few checks.
func TestVerboseChecksAnewAfterAMoment(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		r := control.NewReadiness(s, nil, nil)
		checked := func() time.Time {
			if _, err := r.Health(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			return r.CheckedForTest()
		}
		apitest.Await(t, "two at once share a check", func() bool { return checked().Equal(checked()) })
		before := checked()
		apitest.Await(t, "checked anew", func() bool { return checked().After(before) })
	})
}

// health is what /readyz?verbose shows; it and Ready judge alike.
func health(t *testing.T, r *control.Readiness) control.Health {
	t.Helper()
	h, err := r.Health(t.Context(), true)
	if ready := r.Ready(t.Context()); (err == nil) != (ready == nil) {
		t.Errorf("Health says %v, Ready %v", err, ready)
	}
	if stranger, _ := r.Health(t.Context(), false); stranger.(control.Health).Holder != nil {
		t.Errorf("a stranger learns the holder %s", *stranger.(control.Health).Holder)
	}
	return h.(control.Health)
}

// at is the instant seconds after t, as a literal of the engine.
func at(s *store.Store, t coltype.Time, seconds int64) string {
	t = t.Add(time.Duration(seconds) * time.Second)
	if s.Engine() == store.Postgres {
		return "timestamptz '" + t.String() + "'"
	}
	return fmt.Sprint(t.UnixMicro())
}

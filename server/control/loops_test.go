package control_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// ticker is the time of a runner: each wait lasts until the test lets it end.
type ticker struct {
	waits chan time.Duration // how long each wait was to last
	next  chan struct{}
	seen  bool // the present wait was seen already
}

func newTicker() *ticker {
	return &ticker{waits: make(chan time.Duration), next: make(chan struct{})}
}

func (k *ticker) wait(ctx context.Context, d time.Duration) bool {
	select {
	case k.waits <- d:
	case <-ctx.Done():
		return false
	}
	select {
	case <-k.next:
		return true
	case <-ctx.Done():
		return false
	}
}

// see waits for the next wait, the end of a pass, and is how long it shall last.
func (k *ticker) see() time.Duration {
	k.seen = true
	return <-k.waits
}

// step ends the present wait and returns how long it was to last, if new.
func (k *ticker) step() (d time.Duration) {
	if !k.seen {
		d = k.see()
	}
	k.seen = false
	k.next <- struct{}{}
	return d
}

// running starts a runner with its ticker; the runner ends with the test.
func running(t *testing.T, s *store.Store, log *bytes.Buffer, loop control.Loop) (*control.Runner, *ticker) {
	t.Helper()
	k := newTicker()
	r, err := control.NewRunner(s, slog.New(slog.NewTextHandler(log, nil)), loop)
	if err != nil {
		t.Fatal(err)
	}
	r.TimeForTest(k.wait, func() time.Time { return dbtest.T0.Time })
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { r.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	return r, k
}

func lite(t *testing.T) *store.Store {
	t.Helper()
	return dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)})
}

func TestPassRunsInOneTransactionAtTheClocksTime(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		var log bytes.Buffer
		_, k := running(t, s, &log, control.Loop{Name: "mark", Every: time.Minute,
			Pass: func(ctx context.Context, q model.Querier, now coltype.Time) (int, error) {
				_, err := q.MetaInsert(ctx, model.MetaInsertParams{Key: "mark", Value: now.String()})
				return 1, err
			}})
		if first := k.step(); first < 0 || first > 6*time.Second {
			t.Errorf("the first pass waits %v, want at most a tenth of the interval", first)
		}
		if next := k.see(); next < 54*time.Second || next > 66*time.Second {
			t.Errorf("the next pass waits %v, want 1m ± 10 %%", next)
		}
		got, err := s.MetaGet(t.Context(), model.MetaGetParams{Key: "mark"})
		if err != nil || got != dbtest.T0.String() {
			t.Errorf("the pass wrote %q, %v", got, err)
		}
	})
}

func TestPassThatDidAFullBatchRunsAgainAtOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	left, passes := 250, 0
	_, k := running(t, lite(t), &log, control.Loop{Name: "sweep", Every: time.Minute, Batch: 100,
		Run: func(context.Context, *store.Store) (int, error) {
			passes++
			n := min(left, 100)
			left -= n
			return n, nil
		}})
	k.step()
	k.see()
	if left != 0 || passes != 3 {
		t.Errorf("after %d passes %d are left, want 0 after 3", passes, left)
	}
}

func TestPanicIsOneFailedPassAndLoggedOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	mode := "panic"
	r, k := running(t, lite(t), &log, control.Loop{Name: "shaky", Every: time.Minute, Batch: 1,
		Run: func(context.Context, *store.Store) (int, error) {
			switch mode {
			case "panic":
				panic("boom")
			case "fail":
				return 1, errors.New("no luck")
			}
			return 0, nil
		}})
	for _, tt := range []struct {
		mode     string
		failures int64
		logged   string // what the log says most lately
		lines    int
	}{
		{"panic", 1, "boom", 1}, {"fail", 2, "no luck", 2}, {"fail", 3, "no luck", 2},
		{"well", 0, "works again", 3}, {"well", 0, "works again", 3}, {"fail", 1, "no luck", 4},
	} {
		mode = tt.mode
		k.step()
		k.see()
		status := r.Status()[0]
		if status.Failures != tt.failures || (status.Error != "") != (tt.failures > 0) {
			t.Errorf("%s: the status is %+v, want %d failures", tt.mode, status, tt.failures)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != tt.lines || !strings.Contains(lines[len(lines)-1], tt.logged) {
			t.Errorf("%s: the log has %d lines and ends %q, want %d with %q", tt.mode, len(lines), lines[len(lines)-1], tt.lines, tt.logged)
		}
	}
}

func TestFailedPassLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		var log bytes.Buffer
		_, k := running(t, s, &log, control.Loop{Name: "half", Every: time.Minute,
			Pass: func(ctx context.Context, q model.Querier, _ coltype.Time) (int, error) {
				_, _ = q.MetaInsert(ctx, model.MetaInsertParams{Key: "half", Value: "1"})
				panic("boom")
			}})
		k.step()
		k.see()
		if _, err := s.MetaGet(t.Context(), model.MetaGetParams{Key: "half"}); !store.NotFound(err) {
			t.Errorf("got %v, want no row", err)
		}
	})
}

func TestStatusHasTheAgeOfTheLastResult(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r, k := running(t, lite(t), &log, control.Loop{Name: "one", Every: time.Minute,
		Run: func(context.Context, *store.Store) (int, error) { return 7, nil }})
	if s := r.Status()[0]; s.Passes != 0 || s.Age != -1 {
		t.Errorf("before the first pass: %+v", s)
	}
	k.step()
	k.see()
	if s := r.Status()[0]; s.Passes != 1 || s.Done != 7 || s.Age != 0 {
		t.Errorf("after the first pass: %+v", s)
	}
}

// Not parallel: it counts the goroutines of the process.
func TestRunnerEndsWithItsContextAndLeavesNoGoroutine(t *testing.T) {
	s := lite(t)
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	loops := append(control.StoreLoops(s), control.Loop{Name: "long", Every: time.Nanosecond,
		Run: func(ctx context.Context, _ *store.Store) (int, error) {
			close(started)
			<-ctx.Done()
			return 0, ctx.Err()
		}})
	var log bytes.Buffer
	r, err := control.NewRunner(s, slog.New(slog.NewTextHandler(&log, nil)), loops...)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	<-started
	cancel()
	<-ended
	goleak.VerifyNone(t, before)
	if log.Len() > 0 {
		t.Errorf("a pass that was stopped is logged as failed: %s", &log)
	}
}

func TestPassesOfTheStoreSucceed(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		for _, loop := range control.StoreLoops(s) {
			if _, err := loop.Run(t.Context(), s.Background()); err != nil {
				t.Errorf("%s: %v", loop.Name, err)
			}
		}
	})
}

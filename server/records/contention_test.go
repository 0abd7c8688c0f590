package records_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/records"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
)

// writing is how many write at once. Each asks next before it writes: once that was
// asked more often, somebody has written.
const writing = 8

// writers has them write chunks of one record each to a target until next returns
// false.
func (f *fixture) writers(next func() bool, to records.Target) (ends []error) {
	ends = make([]error, writing)
	var wg sync.WaitGroup
	for w := range ends {
		wg.Go(func() {
			for ends[w] == nil && next() {
				_, ends[w] = f.tryWrite(to, fmt.Sprintf(`{"stream":"notes","data":{"id":"%s"}}`, id.New("n")))
			}
		})
	}
	wg.Wait()
	return ends
}

// times is a next for writers that is true n times.
func times(n int) func() bool {
	var mu sync.Mutex
	return func() bool {
		mu.Lock()
		defer mu.Unlock()
		n--
		return n >= 0
	}
}

func TestDraftBecomesActiveOnceUnderManyWriters(t *testing.T) {
	each(t, func(f *fixture) {
		f.connection = f.connect(f.Owner, sources.Draft)
		if err := errors.Join(f.writers(times(16), f.target())...); err != nil {
			f.Fatal(err)
		}
		got := dbtest.Get[string](f.T, f.Store, "select status || version from connections where id = $1", f.connection)
		if got != "active2" || f.count("records", "true") != 16 {
			f.Errorf("the connection is %s with %d records, want active2 with 16", got, f.count("records", "true"))
		}
	})
}

// A revoke waits for the writers that are at work, and no later one lands: it gets
// its turn though the others never pause.
func TestNothingLandsAfterARevoke(t *testing.T) {
	each(t, func(f *fixture) {
		begun := make(chan struct{})
		gate, written := sync.OnceFunc(func() { close(begun) }), times(writing)
		var atRevoke int64
		var wg sync.WaitGroup
		wg.Go(func() {
			<-begun
			f.setStatus(sources.Active, sources.Revoked)
			atRevoke = f.count("records", "true")
		})
		ends := f.writers(func() bool {
			if !written() {
				gate()
			}
			return true
		}, f.target())
		wg.Wait()
		for _, err := range ends {
			f.faulted(err, "connection_revoked")
		}
		if n := f.count("records", "true"); n != atRevoke || n == 0 {
			f.Errorf("%d records, %d when the connection was revoked", n, atRevoke)
		}
		f.recount()
	})
}

func (f *fixture) setStatus(from, to string) {
	actor := "ada"
	err := f.Try(func(q model.Querier) error {
		c, err := q.ConnectionLock(f.Context(), model.ConnectionLockParams{ID: f.connection, OwnerID: f.Owner})
		if err == nil {
			_, err = q.ConnectionSetStatus(f.Context(), model.ConnectionSetStatusParams{
				ToStatus: to, Actor: &actor, Now: f.Now, RevokedAt: f.Now, ID: c.ID, OwnerID: f.Owner, FromStatus: from, ExpectedVersion: c.Version,
			})
		}
		return err
	})
	if err != nil {
		f.Errorf("from %s to %s: %v", from, to, err)
	}
}

func (f *fixture) start(refresh ...string) runs.Run {
	f.Helper()
	var out sources.Started
	f.Tx(func(q model.Querier) (err error) {
		out, err = sources.Start(f.Context(), q, f.Now, sources.StartIn{OwnerID: f.Owner, Connection: f.connection, Kind: "manual", LeaseSeconds: 60, FullRefresh: refresh})
		return err
	})
	return out.Run
}

func (f *fixture) finish(run runs.Run) {
	f.Helper()
	f.Tx(func(q model.Querier) error {
		_, err := sources.Finish(f.Context(), q, f.Now, sources.FinishIn{OwnerID: f.Owner, RunID: run.ID, Generation: *run.Generation, Status: runs.Succeeded})
		return err
	})
}

func (f *fixture) inRun(run runs.Run, generation int64) records.Target {
	to := f.target()
	to.RunID, to.Generation = run.ID, generation
	return to
}

func TestRunThatEndedOrIsOfAnOldGenerationWritesNothing(t *testing.T) {
	each(t, func(f *fixture) {
		const text = `{"stream":"notes","data":{"id":"a"}}`
		first := f.start()
		if _, err := f.tryWrite(f.inRun(first, *first.Generation+1), text); !isFault(err, "run_not_active") {
			f.Errorf("another generation: %v", err)
		}
		f.finish(first)
		second := f.start()
		for name, tt := range map[string]struct {
			to   records.Target
			code string
		}{
			"ended":                   {f.inRun(first, *first.Generation), "run_not_active"},
			"ended, as the next one":  {f.inRun(first, *second.Generation), "run_not_active"},
			"old generation":          {f.inRun(second, *first.Generation), "run_not_active"},
			"of no run":               {f.inRun(runs.Run{ID: id.New("run")}, 1), "not_found"},
			"of no connection":        {records.Target{OwnerID: f.Owner, ConnectionID: id.New("conn")}, "not_found"},
			"of another's connection": {records.Target{OwnerID: dbtest.Owner(f.T, f.Store, "bob").ID, ConnectionID: f.connection}, "not_found"},
		} {
			if _, err := f.tryWrite(tt.to, text); !isFault(err, tt.code) {
				f.Errorf("%s: %v", name, err)
			}
		}
		if n := f.count("records", "true"); n != 0 {
			f.Errorf("%d records landed", n)
		}
		if _, err := f.tryWrite(f.inRun(second, *second.Generation), text, `{"checkpoint":1}`, "{"); err != nil || f.count("records", "true") != 1 {
			f.Errorf("the run that is active: %v", err)
		}
		for _, table := range []string{"checkpoints", "record_rejections"} {
			if f.count(table, "run_id = '"+second.ID+"'") != 1 {
				f.Errorf("%s do not name the run that brought them", table)
			}
		}
	})
}

func isFault(err error, code string) bool {
	var got *fault.Fault
	return errors.As(err, &got) && got.Code == code
}

func TestFinishGetsItsTurnAmongWritersOfTheRun(t *testing.T) {
	each(t, func(f *fixture) {
		run := f.start()
		begun := make(chan struct{})
		gate, written := sync.OnceFunc(func() { close(begun) }), times(writing)
		var wg sync.WaitGroup
		wg.Go(func() {
			<-begun
			f.finish(run)
		})
		ends := f.writers(func() bool {
			if !written() {
				gate()
			}
			return true
		}, f.inRun(run, *run.Generation))
		wg.Wait()
		for _, err := range ends {
			f.faulted(err, "run_not_active")
		}
	})
}

func TestRefreshMarksWhatItBringsChangedOrNot(t *testing.T) {
	each(t, func(f *fixture) {
		f.wrote(3, 0, `{"stream":"notes","data":{"id":"same"}}`, `{"stream":"notes","data":{"id":"other"}}`, `{"stream":"notes","data":{"id":"unseen"}}`)
		run := f.start("notes")
		out, err := f.tryWrite(f.inRun(run, *run.Generation), `{"stream":"notes","data":{"id":"same"}}`, `{"stream":"notes","data":{"id":"other","v":2}}`, `{"stream":"notes","data":{"id":"new"}}`)
		if err != nil || out.Accepted != 2 || out.Unchanged != 1 {
			f.Fatalf("%+v, %v", out, err)
		}
		for key, want := range map[string]int64{"same": *run.Generation, "other": *run.Generation, "new": *run.Generation, "unseen": 0} {
			if r := f.record("notes", key); r.Seen != want {
				f.Errorf("%s was seen by %d, want %d", key, r.Seen, want)
			}
		}
		if r := f.record("notes", "same"); r.Version != 1 {
			f.Errorf("a mark made version %d", r.Version)
		}
	})
}

// Whoever has seen a number of the owner has seen all below: the sequence is in
// the order of commits, over connections and partitions.
func TestNumbersOfAnOwnerComeInTheOrderOfCommits(t *testing.T) {
	each(t, func(f *fixture) {
		other := f.connect(f.Owner, sources.Active)
		done := make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() {
			seen := int64(0)
			for open := true; open; {
				select {
				case <-done:
					open = false // one look more
				default:
				}
				// One statement, so one snapshot: the highest number, and how many there are.
				gap := dbtest.Get[int64](f.T, f.Store, "select coalesce(max(seq), 0) * 100000 + count(*) from records where owner_id = $1", f.Owner)
				if highest, n := gap/100000, gap%100000; highest != n || n < seen {
					f.Errorf("number %d is seen among %d records, after %d", highest, n, seen)
				} else {
					seen = n
				}
			}
		})
		next := times(40)
		var wg sync.WaitGroup
		for _, connection := range []string{f.connection, other} {
			to := f.target()
			to.ConnectionID = connection
			wg.Go(func() {
				if err := errors.Join(f.writers(next, to)...); err != nil {
					f.Error(err)
				}
			})
		}
		wg.Wait()
		close(done)
		reader.Wait()
		f.recount()
	})
}

func TestOwnersHaveSequencesOfTheirOwn(t *testing.T) {
	each(t, func(f *fixture) {
		f.wrote(2, 0, `{"stream":"notes","data":{"id":"a"}}`, `{"stream":"people","data":{"id":"a"}}`)
		mine := *f
		f.Owner = dbtest.Owner(f.T, f.Store, "bob").ID
		f.connection = f.connect(f.Owner, sources.Active)
		f.wrote(1, 0, `{"stream":"notes","data":{"id":"a"}}`)
		if r := f.record("notes", "a"); r.Seq != 1 || r.Version != 1 {
			f.Errorf("the other owner's first record is %+v", r)
		}
		mine.wrote(1, 0, `{"stream":"notes","data":{"id":"b"}}`)
		if r := mine.record("notes", "b"); r.Seq != 3 || r.Version != 2 {
			f.Errorf("the owner's third record is %+v", r)
		}
		epochs := dbtest.Get[int64](f.T, f.Store, "select count(distinct epoch) from owner_seq where owner_id in ($1, $2)", f.Owner, mine.Owner)
		if epochs != 2 {
			f.Error("both owners have one epoch")
		}
	})
}

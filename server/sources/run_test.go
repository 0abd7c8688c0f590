package sources_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/sources"
)

func TestOfStartsAtOnceOneIsTheRun(t *testing.T) {
	eachRunning(t, func(d *running) {
		const n = 8
		var wait sync.WaitGroup
		ids, errs := make(chan string, n), make(chan error, n)
		for range n {
			wait.Go(func() {
				out, err := d.try(d.in(""))
				if err != nil {
					errs <- err
					return
				}
				ids <- out.Run.ID
			})
		}
		wait.Wait()
		if len(ids) != 1 {
			d.Fatalf("%d runs were started", len(ids))
		}
		close(errs)
		for err := range errs {
			d.refused(err, "run_already_active")
		}
		d.recount()
		if run := d.get(<-ids); runs.Shown(run, d.Now) != runs.InProgress || *run.Generation != 1 || !run.LeaseExpiresAt.Equal(d.Now.Add(time.Minute)) {
			d.Errorf("%+v", run)
		}
	})
}

func (d *running) get(runID string) runs.Run {
	d.Helper()
	run, err := runs.Get(d.Context(), d.Store, d.Owner, runID)
	if err != nil {
		d.Fatal(err)
	}
	return run
}

func TestRunWithoutALiveLeaseGivesWay(t *testing.T) {
	eachRunning(t, func(d *running) {
		first := d.start(d.in(""))
		d.Pass(time.Minute + runs.Grace)
		if _, err := d.try(d.in("")); err == nil {
			d.Error("a run within the grace gave way")
		}
		d.Pass(time.Microsecond)
		second := d.start(d.in(""))
		was := d.get(first.ID)
		if was.Status != runs.Abandoned || *was.TerminalReason != runs.ReasonLeaseExpired || *second.Generation != 2 {
			d.Errorf("%+v, then %+v", was, second)
		}
		// The old generation can heartbeat, finish and write nothing.
		_, err := d.beat(first)
		d.refused(err, "run_superseded")
		_, err = d.finish(first, runs.Succeeded)
		d.refused(err, "run_superseded")
		d.refused(d.write(first), "run_not_active")
		second.ID, first.ID = first.ID, second.ID // nor in the name of the new run
		_, err = d.beat(first)
		d.refused(err, "run_superseded")
		d.refused(d.write(first), "run_not_active")
		d.status(first.ID, runs.Running)
	})
}

func TestExternalIDNamesOneRunOfAConnection(t *testing.T) {
	eachRunning(t, func(d *running) {
		first := d.start(d.in("night"))
		for range 2 {
			again, err := d.try(d.in("night"))
			if err != nil || !again.Deduplicated || again.Run.ID != first.ID {
				d.Errorf("%+v, %v", again, err)
			}
		}
		other := d.in("night")
		other.Connection = d.connect("two")
		if second := d.start(other); second.ID == first.ID || *second.Generation != 1 {
			d.Errorf("two connections share the run %s", second.ID)
		}
		if _, err := d.finish(first, runs.Failed); err != nil {
			d.Error(err)
		}
		if again, err := d.try(d.in("night")); err != nil || again.Run.Status != runs.Failed || *again.Run.Generation != 1 {
			d.Errorf("an ended run, started again: %+v, %v", again, err)
		}
	})
}

func TestFirstFinishOfAConnectionsRunWins(t *testing.T) {
	eachRunning(t, func(d *running) {
		run := d.start(d.in(""))
		for range 3 {
			if got, err := d.finish(run, runs.SucceededWithGaps); err != nil || got.Status != runs.SucceededWithGaps || !got.CompletedAt.Equal(dbtest.T0) {
				d.Errorf("%+v, %v", got, err)
			}
			d.Pass(time.Second)
		}
		_, err := d.finish(run, runs.Failed)
		d.refused(err, "state_conflict")
		_, err = d.beat(run)
		d.refused(err, "state_conflict")
		next := d.start(d.in(""))
		if got, err := d.finish(run, runs.SucceededWithGaps); err != nil || got.ID != run.ID {
			d.Errorf("the same finish after a later start: %v", err)
		}
		d.status(next.ID, runs.Running)
		d.status(run.ID, runs.SucceededWithGaps)
		if _, err := d.finish(next, runs.Failed); err != nil { // the success stays in the heads
			d.Error(err)
		}
	})
}

func TestHeartbeatKeepsARunAlive(t *testing.T) {
	eachRunningWhole(t, func(d *running) {
		run := d.start(d.in(""))
		d.Pass(2 * time.Minute) // its lease ran out, and nobody took it back
		if end, err := d.beat(run); err != nil || !end.Equal(d.Now.Add(time.Minute)) {
			d.Errorf("until %v, %v", end, err)
		}
		long := int64(3600)
		d.Tx(func(q model.Querier) error {
			_, err := sources.Heartbeat(d.Context(), q, d.Now, sources.BeatIn{RenewIn: runs.RenewIn{OwnerID: d.Owner, ID: run.ID, Generation: 1, LeaseSeconds: &long}})
			return err
		})
		if end, err := d.beat(run); err != nil || !end.Equal(d.Now.Add(time.Hour)) {
			d.Errorf("a heartbeat that names no time makes the lease end at %v, %v", end, err)
		}
	})
}

func TestReaperAbandonsTheRunsOfRunnersThatAreGone(t *testing.T) {
	eachRunningWhole(t, func(d *running) {
		clock := dbtest.Freeze(d.Store)
		d.Now = clock.Now()
		gone := d.start(d.in(""))
		other := d.in("")
		other.Connection, other.LeaseSeconds = d.connect("two"), 3600
		alive := d.start(other)
		clock.Advance(time.Minute + runs.Grace)
		for _, want := range []int{0, 1, 0} { // within the grace; after it; nothing is left
			if n, err := sources.Reap(d.Context(), d.Store); n != want || err != nil {
				d.Errorf("reaped %d, %v; want %d", n, err, want)
			}
			clock.Advance(time.Second)
		}
		d.recount()
		d.status(gone.ID, runs.Abandoned)
		d.status(alive.ID, runs.Running)
	})
}

// A run that cannot be ended, as its connection's row is lost, keeps no other one.
func TestReaperPassesOverARunThatItCannotEnd(t *testing.T) {
	eachRunningWhole(t, func(d *running) {
		clock := dbtest.Freeze(d.Store)
		d.Now = clock.Now()
		d.start(d.in("")) // of the first connection
		other := d.in("")
		other.Connection = d.connect("two")
		second := d.start(other)
		dbtest.SQL(d.T, d.Store, "delete from connections where id = $1", d.connection)
		clock.Advance(time.Minute + runs.Grace + time.Second)
		if n, err := sources.Reap(d.Context(), d.Store); n != 1 || err == nil {
			d.Errorf("reaped %d, %v; want the second, and the fault of the first", n, err)
		}
		d.status(second.ID, runs.Abandoned)
	})
}

func TestStrangersAndRevokedConnectionsHaveNoRuns(t *testing.T) {
	eachRunning(t, func(d *running) {
		run := d.start(d.in("kept"))
		stranger := *d
		stranger.Owner = dbtest.Owner(d.T, d.Store, "bob").ID
		_, err := stranger.try(stranger.in(""))
		d.refused(err, "not_found")
		_, err = stranger.beat(run)
		d.refused(err, "not_found")
		d.refused(stranger.write(run), "not_found")
		if _, err := d.finish(run, runs.Cancelled); err != nil {
			d.Error(err)
		}
		d.Tx(func(q model.Querier) error {
			_, err := q.ConnectionSetStatus(d.Context(), model.ConnectionSetStatusParams{
				ID: d.connection, OwnerID: d.Owner, FromStatus: sources.Active, ToStatus: sources.Revoked, ExpectedVersion: 1, Actor: &d.connection, Now: d.Now, RevokedAt: d.Now,
			})
			return err
		})
		_, err = d.try(d.in(""))
		d.refused(err, "connection_revoked")
		if again, err := d.try(d.in("kept")); err != nil || again.Run.ID != run.ID {
			d.Errorf("a run that there was: %v", err)
		}
	})
}

// marks is how the partitions of the connection stand, by stream.
func (d *running) marks() map[string]string {
	out := map[string]string{}
	for _, stream := range []string{"accounts", "cards", "log"} {
		if n := dbtest.Get[int](d.T, d.Store, "select count(*) from partitions where owner_id = $1 and stream = $2", d.Owner, stream); n > 0 {
			out[stream] = dbtest.Get[string](d.T, d.Store, "select coalesce(refresh_state, '') from partitions where owner_id = $1 and stream = $2", d.Owner, stream)
		}
	}
	return out
}

func TestRefreshBeginsAndEndsWithItsRun(t *testing.T) {
	eachRunning(t, func(d *running) {
		in := d.in("")
		in.FullRefresh = []string{"accounts", "log", "none"}
		_, err := d.try(in)
		d.refused(err, "validation_failed")
		in.FullRefresh = []string{"accounts"}
		run := d.start(in)
		if _, err := d.beat(run, "cards", "accounts"); err != nil {
			d.Error(err)
		}
		d.marked("reading", "reading")
		if _, err := d.finish(run, runs.Failed); err != nil {
			d.Error(err)
		}
		d.marked("", "")
		run = d.start(in)
		if _, err := d.finish(run, runs.Succeeded); err != nil {
			d.Error(err)
		}
		d.marked("removing", "")
		_, err = d.try(in)
		d.refused(err, "state_conflict")
		in.FullRefresh = []string{"cards"}
		run = d.start(in)
		if _, err := d.finish(run, runs.SucceededWithGaps); err != nil {
			d.Error(err)
		}
		d.marked("removing", "")
	})
}

func (d *running) marked(accounts, cards string) {
	d.Helper()
	if got := d.marks(); got["accounts"] != accounts || got["cards"] != cards || len(got) > 2 {
		d.Errorf("%v, want accounts %q, cards %q", got, accounts, cards)
	}
}

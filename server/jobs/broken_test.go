package jobs_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// decade is how far a wrong clock was ahead.
const decade = 10 * 365 * 24 * time.Hour

// ahead leaves a claimed job as a process leaves it whose clock is that much ahead.
func (d *fixture) ahead(held jobs.ClaimedJob, by time.Duration) {
	d.Helper()
	d.set(held.Job.ID, "lease_expires_at", held.Job.LeaseExpiresAt.Add(by))
	d.set(held.Job.ID, "updated_at", held.Job.UpdatedAt.Add(by))
}

// set writes a time into a job.
func (d *fixture) set(id, column string, at coltype.Time) {
	d.Helper()
	var value any = at.Time
	switch {
	case d.Store.Engine() == store.SQLite:
		value = at.UnixMicro()
	case at == coltype.Earliest:
		value = "-infinity"
	case at == coltype.Latest:
		value = "infinity"
	}
	dbtest.SQL(d.T, d.Store, "update jobs set "+column+" = $1 where id = $2", value, id)
}

func TestBrokenLeaseIsTakenBackAtOnceAndToldOnce(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		dbtest.Freeze(d.Store)
		var log bytes.Buffer
		held, sound := d.held(jobs.EnqueueIn{}), d.held(jobs.EnqueueIn{})
		d.ahead(held, decade)
		if _, overdue, err := jobs.Troubled(d.Context(), d.Store, d.Now, d.Owner, d.Now); err != nil || overdue.Value != 1 {
			d.Errorf("%d overdue leases, %v", overdue.Value, err)
		}
		if found, _ := measured(d.T, d.Store); found.Overdue.Count != 1 || found.Overdue.Oldest != 0 {
			d.Errorf("measured %+v", found.Overdue)
		}
		if run := d.runs(held.Job.ID)[0]; runs.Shown(run, d.Now) != runs.Failed {
			d.Errorf("its run is shown as %s", runs.Shown(run, d.Now))
		}
		for _, want := range []int{1, 0, 0} {
			if n, err := jobs.ReapAll(d.Context(), d.Store, jobs.NewHub(nil), slog.New(slog.NewTextHandler(&log, nil))); n != want || err != nil {
				d.Errorf("took back %d, %v, want %d", n, err, want)
			}
		}
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, held.Job.ID) || !strings.Contains(text, "worker=w1") {
			d.Errorf("the log says:\n%s", text)
		}
		if run := d.runs(held.Job.ID)[0]; run.Status != runs.Abandoned || !run.CompletedAt.Equal(d.Now) {
			d.Errorf("its run is %s at %s", run.Status, run.CompletedAt)
		}
		d.state(sound.Job.ID, jobs.Claimed)
		if again := d.claim(); again.Job.ID != held.Job.ID || again.Job.Attempt != 2 {
			d.Errorf("claimed %s, attempt %d", again.Job.ID, again.Job.Attempt)
		}
		if _, err := d.beat(held, jobs.HeartbeatIn{}); err == nil {
			d.Error("the holder of before renewed its lease")
		}
	})
}

func TestCancelEndsAJobWithABrokenLease(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		d.ahead(held, decade)
		if _, err := d.cancel(held.Job.ID); err != nil {
			d.Fatal(err)
		}
		d.reap()
		d.state(held.Job.ID, jobs.Cancelled)
	})
}

// The longest lease is sound to a replica whose time lies a little behind the
// holder's.
func TestLongestLeaseIsNotBroken(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		d.enqueue(jobs.EnqueueIn{})
		longest := int64(runs.MaxLease / time.Second)
		held := d.claimIn(jobs.ClaimIn{LeaseSeconds: &longest})[0]
		d.Now = d.Now.Add(-store.Apart)
		if n := d.reap(); n != 0 {
			d.Error("it was taken back")
		}
		d.Now = d.Now.Add(-time.Microsecond)
		if n := d.reap(); n != 1 {
			d.Error("a longer one was not")
		}
		d.state(held.Job.ID, jobs.Pending)
	})
}

// A holder that lives sets its lease right, whether it names a length or not.
func TestHeartbeatMendsABrokenLease(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		for _, seconds := range []*int64{nil, ptr(int64(90))} {
			held := d.held(jobs.EnqueueIn{})
			d.ahead(held, decade)
			want := time.Minute
			if seconds != nil {
				want = time.Duration(*seconds) * time.Second
			}
			beat, err := d.beat(held, jobs.HeartbeatIn{LeaseSeconds: seconds})
			if err != nil || !beat.LeaseExpiresAt.Equal(d.Now.Add(want)) {
				d.Errorf("the lease ends at %s, %v, want in %v", beat.LeaseExpiresAt, err, want)
			}
			if n := d.reap(); n != 0 {
				d.Error("it was taken back")
			}
			d.finished(held, jobs.FinishIn{Action: jobs.Complete})
		}
	})
}

// What the schema of this release lets in no more, and what earlier ones and
// people with psql wrote, stops no reaper and hides no other row.
func TestBadTimesStopNoReaperAndHideNobody(t *testing.T) {
	t.Parallel()
	dbtest.EachFresh(t, func(t *testing.T, s *store.Store) {
		for _, table := range []string{"jobs", "runs"} {
			dbtest.SQL(t, s, "alter table "+table+" drop constraint "+table+"_times_check")
		}
		d := newFixture(t, s)
		held := map[string]jobs.ClaimedJob{}
		for _, name := range []string{"sound", "early", "late", "made early", "made late", "run"} {
			held[name] = d.held(jobs.EnqueueIn{})
		}
		d.set(held["early"].Job.ID, "lease_expires_at", coltype.Earliest)
		d.set(held["late"].Job.ID, "lease_expires_at", coltype.Latest)
		d.set(held["made early"].Job.ID, "created_at", coltype.Earliest)
		d.set(held["made late"].Job.ID, "created_at", coltype.Latest)
		d.set(held["made late"].Job.ID, "updated_at", coltype.Latest)
		d.spoilRun(held["run"])

		d.listsAll(len(held))
		if n := d.reap(); n != 2 {
			d.Errorf("took back %d of two broken leases", n)
		}
		d.Pass(time.Hour)
		if n := d.reap(); n != len(held)-2 {
			d.Errorf("took back %d of %d overdue leases", n, len(held)-2)
		}
		d.listsAll(len(held))
		again := d.claimIn(jobs.ClaimIn{Limit: 100})
		for _, c := range again {
			d.finished(c, jobs.FinishIn{Action: jobs.Complete})
		}
		if len(again) != len(held) {
			d.Errorf("claimed %d of %d", len(again), len(held))
		}
	})
}

// spoilRun gives a run times that no clock tells.
func (d *fixture) spoilRun(held jobs.ClaimedJob) {
	d.Helper()
	value := "'infinity'"
	if d.Store.Engine() == store.SQLite {
		value = "9223372036854775807"
	}
	dbtest.SQL(d.T, d.Store, "update runs set started_at = "+value+", created_at = "+value+", deadline_at = "+value+" where id = $1", held.RunID)
}

// listsAll wants every job and run of the owner in pages of two, each once.
func (d *fixture) listsAll(want int) {
	d.Helper()
	ids := map[string]bool{}
	jobsFrom := func(from keyset.Position) ([]model.Job, *keyset.Position, error) {
		return jobs.List.Page(d.Context(), d.Store, jobs.ListIn{OwnerID: d.Owner}, from, 2)
	}
	runsFrom := func(from keyset.Position) ([]runs.Run, *keyset.Position, error) {
		return runs.List.Page(d.Context(), d.Store, runs.ListIn{OwnerID: d.Owner}, from, 2)
	}
	jobRows := pagesOf(d, jobsFrom)
	for _, job := range jobRows {
		ids[job.ID] = true
	}
	for _, run := range pagesOf(d, runsFrom) {
		ids[run.ID] = true
	}
	if len(jobRows) != want || len(ids) != 2*want {
		d.Errorf("%d jobs, %d jobs and runs; want %d, each once and with a run", len(jobRows), len(ids), want)
	}
}

func pagesOf[Row any](d *fixture, page func(keyset.Position) ([]Row, *keyset.Position, error)) (all []Row) {
	d.Helper()
	from := keyset.Top()
	for range 100 {
		rows, next, err := page(from)
		if err != nil {
			d.Fatal(err)
		}
		all = append(all, rows...)
		if next == nil {
			return all
		}
		from = *next
	}
	d.Fatal("the list has no end")
	return nil
}

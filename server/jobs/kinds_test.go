package jobs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
)

// putKind sets a kind whatever its version is.
func (d *fixture) putKind(in jobs.KindIn) (kind model.JobKind, created bool) {
	d.Helper()
	in.OwnerID = d.Owner
	d.Tx(func(q model.Querier) (err error) {
		kind, created, err = jobs.PutKind(d.Context(), q, d.Now, in, func(int64) error { return nil })
		return err
	})
	return kind, created
}

func (d *fixture) pause(name string) (kind model.JobKind) {
	d.Helper()
	d.Tx(func(q model.Querier) (err error) {
		kind, err = jobs.Pause(d.Context(), q, d.Now, d.Owner, name, "ada")
		return err
	})
	return kind
}

func (d *fixture) resume(name string) (kind model.JobKind) {
	d.Helper()
	d.Tx(func(q model.Querier) (err error) {
		kind, err = jobs.Resume(d.Context(), q, d.Now, d.Owner, name)
		return err
	})
	return kind
}

func TestKindIsRegisteredThenChangedAtTheVersionRead(t *testing.T) {
	each(t, func(d *fixture) {
		in := jobs.KindIn{Name: "build", LeaseSeconds: 30, MaxAttempts: 2, BackoffBaseSeconds: 1, BackoffCapSeconds: 8}
		if kind, created := d.putKind(in); !created || kind.Version != 1 || kind.LeaseSeconds != 30 {
			d.Errorf("created %v, %+v", created, kind)
		}
		d.Pass(time.Second)
		in.LeaseSeconds, in.MaxAttempts, in.BackoffBaseSeconds, in.BackoffCapSeconds = 40, 3, 2, 9
		kind, created := d.putKind(in)
		if created || kind.Version != 2 || kind.LeaseSeconds != 40 || kind.MaxAttempts != 3 ||
			kind.BackoffBaseSeconds != 2 || kind.BackoffCapSeconds != 9 || !kind.UpdatedAt.Equal(d.Now) {
			d.Errorf("created %v, %+v", created, kind)
		}
		in.OwnerID, in.LeaseSeconds = d.Owner, 50
		err := d.Store.Tx(d.Context(), func(q model.Querier) error {
			_, _, err := jobs.PutKind(d.Context(), q, d.Now, in, func(v int64) error {
				if v != 2 {
					d.Errorf("match was asked for version %d", v)
				}
				return fault.PreconditionFailed()
			})
			return err
		})
		d.faulted(err, "precondition_failed", "")
		if kind, _ := jobs.GetKind(d.Context(), d.Store, d.Owner, "build"); kind.LeaseSeconds != 40 {
			d.Errorf("the refused change was written: %+v", kind)
		}
	})
}

// match is asked before anything is registered, with 0 for an unknown kind.
func TestUnknownKindThatTheCallerRefusesIsNotRegistered(t *testing.T) {
	each(t, func(d *fixture) {
		in := jobs.KindIn{OwnerID: d.Owner, Name: "fresh", LeaseSeconds: 30, MaxAttempts: 2, BackoffBaseSeconds: 1, BackoffCapSeconds: 8}
		err := d.Store.Tx(d.Context(), func(q model.Querier) error {
			_, _, err := jobs.PutKind(d.Context(), q, d.Now, in, func(v int64) error {
				if v != 0 {
					d.Errorf("match was asked for version %d", v)
				}
				return fault.PreconditionFailed()
			})
			return err
		})
		d.faulted(err, "precondition_failed", "")
		_, err = jobs.GetKind(d.Context(), d.Store, d.Owner, "fresh")
		d.faulted(err, "not_found", "")
	})
}

// Whoever comes second finds it done: pausing, resuming and setting at once is
// never a conflict for those who pause and resume.
func TestPausesAndResumesAtOnceAreNeverRefused(t *testing.T) {
	each(t, func(d *fixture) {
		in := jobs.KindIn{Name: "build", LeaseSeconds: 30, MaxAttempts: 2, BackoffBaseSeconds: 1, BackoffCapSeconds: 8}
		d.putKind(in)
		atOnce(6, func(i int) {
			for range 10 {
				err := d.Store.Tx(d.Context(), func(q model.Querier) (err error) {
					switch {
					case i%2 == 0:
						_, err = jobs.Pause(d.Context(), q, d.Now, d.Owner, "build", "ada")
					default:
						_, err = jobs.Resume(d.Context(), q, d.Now, d.Owner, "build")
					}
					return err
				})
				if err != nil {
					d.Error(err)
				}
			}
		})
		kind, err := jobs.GetKind(d.Context(), d.Store, d.Owner, "build")
		if odd := kind.Version%2 == 0; odd != !kind.PausedAt.IsZero() || err != nil {
			d.Errorf("version %d, paused at %s, %v: not every version is one change", kind.Version, kind.PausedAt, err)
		}
	})
}

func TestChangeThatAnotherOneOvertookIsRefused(t *testing.T) {
	each(t, func(d *fixture) {
		n, err := int64(1), errors.New("not run")
		d.Tx(func(q model.Querier) error {
			n, err = q.KindSet(d.Context(), model.KindSetParams{
				OwnerID: d.Owner, Name: "review", Version: 9, UpdatedAt: d.Now,
				LeaseSeconds: 60, MaxAttempts: 5, BackoffBaseSeconds: 5, BackoffCapSeconds: 3600,
			})
			return err
		})
		if n != 0 || err != nil {
			d.Errorf("%d rows, %v", n, err)
		}
	})
}

func TestPausedKindIsLeftOutOfClaimsUntilItIsResumed(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(jobs.EnqueueIn{})
		d.enqueue(jobs.EnqueueIn{})
		other := d.enqueue(jobs.EnqueueIn{Kind: "other"}).Job
		paused := d.pause("build")
		if !paused.PausedAt.Equal(d.Now) || text(paused.PausedBy) != "ada" {
			d.Errorf("paused at %s by %s", paused.PausedAt, text(paused.PausedBy))
		}
		d.Pass(time.Second)
		if again := d.pause("build"); again.Version != paused.Version || !again.PausedAt.Equal(paused.PausedAt) {
			d.Errorf("pausing twice changed the kind: %+v", again)
		}
		if got := d.claimIn(jobs.ClaimIn{}); len(got) != 0 {
			d.Errorf("claimed %d jobs of a paused kind", len(got))
		}
		got := d.claimIn(jobs.ClaimIn{Kinds: []string{"build", "other"}, Limit: 10})
		if len(got) != 1 || got[0].Job.ID != other.ID {
			d.Errorf("claimed %d jobs beside the paused kind", len(got))
		}
		if _, err := d.beat(held, jobs.HeartbeatIn{}); err != nil {
			d.Errorf("a running job was disturbed: %v", err)
		}
		d.finished(held, jobs.FinishIn{Action: jobs.Complete})
		d.resume("build")
		if resumed := d.resume("build"); !resumed.PausedAt.IsZero() || resumed.PausedBy != nil || resumed.Version != paused.Version+1 {
			d.Errorf("resumed: %+v", resumed)
		}
		d.claim()
	})
}

func TestUnknownKindIsNotFound(t *testing.T) {
	each(t, func(d *fixture) {
		_, err := jobs.GetKind(d.Context(), d.Store, d.Owner, "nobody")
		d.faulted(err, "not_found", "")
		err = d.Store.Tx(d.Context(), func(q model.Querier) error {
			_, err := jobs.Pause(d.Context(), q, d.Now, d.Owner, "nobody", "ada")
			return err
		})
		d.faulted(err, "not_found", "")
	})
}

package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// oneOf is one of the names n0 to n3.
func oneOf(i int) *repos.Ref { return named(fmt.Sprint("n", i%4)) }

// Enqueues, claims, ends, retries by hand and renames of one repository at once:
// no issue ever has two live jobs, and every live one has the key of today.
func TestRenamesAmongAllThatMakesKeysLeaveOneLiveJobPerIssue(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		repo := d.track(oneOf(0))
		for i := range 4 {
			d.rename(repo.ID, oneOf(i).Name)
		}
		atOnce(8, func(i int) {
			for turn := range 15 {
				var err error
				switch i {
				case 0, 1:
					_, err = d.tryRename(repo.ID, repos.RenameIn{Name: &oneOf(turn + 2*i).Name})
				case 2, 3, 4, 5:
					_, err = d.tryEnqueue(about(oneOf(turn+i), int64(turn%3)+1), about(oneOf(i), int64(i%3)+1))
				case 6:
					err = d.endOne(turn)
				default:
					err = d.retryAll()
				}
				if err != nil {
					d.Errorf("%d, turn %d: %v", i, turn, err)
				}
			}
		})
		d.oneLiveJobPerIssue(repo.ID)
		d.noDeadlock()
	})
}

// endOne ends a claim of any job there is: a failure for good, or a success.
func (d *fixture) endOne(turn int) error {
	for _, held := range d.claimIn(jobs.ClaimIn{}) {
		in := jobs.FinishIn{Action: jobs.Complete}
		if turn%2 == 0 {
			in = jobs.FinishIn{Action: jobs.Fail}
		}
		if _, err := d.finish(held, in); err != nil {
			return err
		}
	}
	return nil
}

// retryAll brings back each job that failed, unless its issue has a live one.
func (d *fixture) retryAll() error {
	for _, job := range d.list(jobs.ListIn{State: jobs.Failed}) {
		_, err := d.retry(job.ID)
		if f, ok := errors.AsType[*fault.Fault](err); err != nil && (!ok || f.Code != "key_in_use" && f.Code != "state_conflict") {
			return err
		}
	}
	return nil
}

// oneLiveJobPerIssue checks the live jobs of the one repository that there is.
func (d *fixture) oneLiveJobPerIssue(repoID string) {
	d.Helper()
	if n := dbtest.Get[int](d.T, d.Store, "select count(*) from repos"); n != 1 {
		d.Errorf("%d repositories, want 1", n)
	}
	repo, err := repos.Get(d.Context(), d.Store, d.Owner, repoID)
	if err != nil {
		d.Fatal(err)
	}
	live := map[int64]string{}
	for _, job := range d.list(jobs.ListIn{}) {
		if !job.FinishedAt.IsZero() {
			continue
		}
		if other := live[*job.IssueNumber]; other != "" {
			d.Errorf("issue %d has the live jobs %s and %s", *job.IssueNumber, other, job.ID)
		}
		live[*job.IssueNumber] = job.ID
		d.keyed(job.ID, repos.NameOf(repo.Repo).IssueKey(*job.IssueNumber))
	}
}

// A name that is given and tracked at once is one repository's, and a name that
// is given up stays that repository's, whoever comes first.
func TestNamesThatAreGivenAndTrackedAtOnceHaveOneRepository(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		repo := d.track(named("n"))
		for round := range 8 {
			old, next := repos.NameOf(repo), named(fmt.Sprint("n", round))
			atOnce(4, func(i int) {
				switch i {
				case 0:
					_, err := d.tryRename(repo.ID, repos.RenameIn{Name: &next.Name})
					if f, ok := errors.AsType[*fault.Fault](err); err != nil && (!ok || f.Code != "name_in_use") {
						d.Error(err)
					}
				case 1:
					if _, err := d.tryEnqueue(about(next, 1)); err != nil {
						d.Error(err)
					}
				default:
					if got := d.track(&old); got.ID != repo.ID {
						d.Errorf("%s was tracked anew", old.Name)
					}
				}
			})
			repo = d.track(&old)
		}
		both := dbtest.Get[int](d.T, d.Store, "select count(*) from repo_names n join repos r on r.host = n.host and lower(r.namespace) = n.namespace and lower(r.name) = n.name")
		if both != 0 {
			d.Errorf("%d names are a repository's and another's old one", both)
		}
		d.noDeadlock()
	})
}

// onPostgres is for what one writer at a time cannot do to itself.
func onPostgres(t *testing.T, fn func(d *fixture)) {
	t.Parallel()
	fn(newFixture(t, dbtest.Open(t, storeOf(t, store.Postgres))))
}

// The statement that waits for a job does not see the successor that it leaves.
func TestSuccessorOfAJobThatEndsDuringARenameHasTheNewKey(t *testing.T) {
	onPostgres(t, func(d *fixture) {
		held := d.held(about(named("old"), 7))
		d.enqueue(about(named("old"), 7)) // is kept, to run afterwards
		renamed := make(chan error, 1)
		var ended jobs.Outcome
		d.Tx(func(q model.Querier) (err error) {
			in := jobs.FinishIn{OwnerID: d.Owner, ID: held.Job.ID, LeaseToken: *held.Job.LeaseToken, Action: jobs.Complete, Jitter: 1}
			if ended, err = jobs.Finish(d.Context(), q, d.Now, in); err != nil {
				return err
			}
			go func() {
				_, err := d.tryRename(*held.Job.RepoID, repos.RenameIn{Name: ptr("new")})
				renamed <- err
			}()
			d.lockAwaited()
			return nil
		})
		if err := <-renamed; err != nil {
			d.Fatal(err)
		}
		d.keyed(d.followed(ended.Job).ID, "issue:gitea:git.example.org/acme/new#7")
	})
}

// lockAwaited returns once a session waits for a lock.
func (d *fixture) lockAwaited() {
	d.Helper()
	conn, _ := pgConn(d.T, d.Store)
	for waiting := 0; waiting == 0; {
		err := conn.QueryRow(d.Context(), `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).Scan(&waiting)
		if err != nil {
			d.Fatal(err)
		}
	}
}

// meanwhile is a transaction in which something happens before it tracks.
type meanwhile struct {
	model.Querier
	happens func()
}

func (m meanwhile) RepoInsert(ctx context.Context, arg model.RepoInsertParams) (int64, error) {
	m.happens()
	return m.Querier.RepoInsert(ctx, arg)
}

// Between the look and the insert another transaction tracks the name, and renames
// the repository away from it.
func TestANameThatBecomesAnOldOneWhileItIsTrackedIsNotTrackedAnew(t *testing.T) {
	onPostgres(t, func(d *fixture) {
		var other string
		happens := sync.OnceFunc(func() {
			other = d.track(named("x")).ID
			d.rename(other, "y")
		})
		var got repos.Tracked
		d.Tx(func(q model.Querier) (err error) {
			in := repos.TrackIn{OwnerID: d.Owner, Ref: *named("x")}
			got, err = repos.Track(d.Context(), meanwhile{q, happens}, d.Now, in)
			return err
		})
		if got.Repo.ID != other || !got.Deduplicated {
			d.Errorf("tracked %+v; x became an old name of %s", got, other)
		}
	})
}

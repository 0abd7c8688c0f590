package jobs_test

import (
	"errors"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// named is acme/NAME on a forge of somebody.
func named(name string) *repos.Ref {
	return &repos.Ref{Forge: "gitea", Host: "git.example.org", Namespace: "Acme", Name: name}
}

// about is the enqueue of an issue.
func about(ref *repos.Ref, issue int64) jobs.EnqueueIn {
	return jobs.EnqueueIn{Kind: "build", Repo: ref, IssueNumber: &issue}
}

func (d *fixture) track(ref *repos.Ref) (repo model.Repo) {
	d.Helper()
	d.Tx(func(q model.Querier) error {
		got, err := repos.Track(d.Context(), q, d.Now, repos.TrackIn{OwnerID: d.Owner, Ref: *ref})
		repo = got.Repo
		return err
	})
	return repo
}

func (d *fixture) tryRename(repoID string, in repos.RenameIn) (got repos.Renamed, err error) {
	in.OwnerID, in.RepoID = d.Owner, repoID
	err = d.Try(func(q model.Querier) error {
		got, err = jobs.Renamer(jobs.NewHub(nil))(d.Context(), q, d.Now, in)
		return err
	})
	return got, err
}

func (d *fixture) rename(repoID, name string) repos.Renamed {
	d.Helper()
	got, err := d.tryRename(repoID, repos.RenameIn{Name: &name})
	if err != nil {
		d.Fatalf("rename to %s: %v", name, err)
	}
	return got
}

func (d *fixture) keyed(id, want string) {
	d.Helper()
	if got := text(d.job(id).Key); got != want {
		d.Errorf("%s has the key %s, want %s", id, got, want)
	}
}

func TestARenamedRepositoryHasOneLiveJobPerIssue(t *testing.T) {
	each(t, func(d *fixture) {
		seven := d.enqueue(about(named("Old"), 7)).Job
		other := d.enqueue(about(named("Old-er"), 7)).Job // whose name begins alike
		plain := d.enqueue(jobs.EnqueueIn{Repo: named("Old")}).Job
		got := d.rename(*seven.RepoID, "New")
		if got.Rekeyed != 1 || got.Repo.Name != "New" || got.Repo.Namespace != "Acme" || got.Repo.ID != *seven.RepoID {
			d.Errorf("%+v", got)
		}
		d.keyed(seven.ID, "issue:gitea:git.example.org/acme/new#7")
		d.keyed(other.ID, *other.Key)
		for _, name := range []string{"old", "OLD", "new"} {
			if again := d.enqueue(about(named(name), 7)); again.Job.ID != seven.ID {
				d.Errorf("under %s the issue has another job, of %s", name, *again.Job.RepoID)
			}
			if repo := d.track(named(name)); repo.ID != *seven.RepoID {
				d.Errorf("%s was tracked anew", name)
			}
		}
		if d.job(plain.ID).Key != nil {
			d.Error("a job without an issue has a key")
		}
		out, err := d.tryEnqueue(about(named("old"), 8), about(named("new"), 8))
		if err != nil || out[0].Job.ID != out[1].Job.ID || text(out[0].Job.Key) != "issue:gitea:git.example.org/acme/new#8" {
			d.Errorf("in one batch: %+v, %v", out, err)
		}
		d.rename(*seven.RepoID, "old") // back to a name of its own
		d.keyed(seven.ID, *seven.Key)
		if again := d.enqueue(about(named("New"), 7)); again.Job.ID != seven.ID {
			d.Error("the name in between is forgotten")
		}
	})
}

// An ended job keeps its key. Back by hand, it is the live job of its issue under
// the name of today, if there is none.
func TestRetryOfAJobOfARenamedRepository(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(about(named("old"), 7))
		ended := d.finished(held, jobs.FinishIn{Action: jobs.Fail}).Job
		d.rename(*ended.RepoID, "new")
		d.keyed(ended.ID, *ended.Key)
		live := d.enqueue(about(named("new"), 7)).Job
		_, err := d.retry(ended.ID)
		d.faulted(err, "key_in_use", jobs.Pending)
		if _, err := d.cancel(live.ID); err != nil {
			d.Fatal(err)
		}
		if _, err := d.retry(ended.ID); err != nil {
			d.Fatal(err)
		}
		d.keyed(ended.ID, "issue:gitea:git.example.org/acme/new#7")
	})
}

func TestWhatWasAskedAgainFollowsUnderTheNewName(t *testing.T) {
	each(t, func(d *fixture) {
		held := d.held(about(named("old"), 7))
		d.enqueue(about(named("old"), 7))
		d.rename(*held.Job.RepoID, "new")
		next := d.followed(d.finished(held, jobs.FinishIn{Action: jobs.Complete}).Job)
		d.keyed(next.ID, "issue:gitea:git.example.org/acme/new#7")
	})
}

func TestANameThatAnotherHasOrHadIsRefused(t *testing.T) {
	each(t, func(d *fixture) {
		a, b := d.track(named("a")), d.track(named("b"))
		d.rename(b.ID, "c")
		for _, name := range []string{"B", "c"} {
			_, err := d.tryRename(a.ID, repos.RenameIn{Name: &name})
			d.faulted(err, "name_in_use", "")
			if f, ok := errors.AsType[*fault.Fault](err); ok && f.Members["repo_id"] != b.ID {
				d.Errorf("%s: names %v, want %s", name, f.Members["repo_id"], b.ID)
			}
		}
		d.rename(a.ID, "A") // only another spelling
		if got := d.track(named("a")); got.ID != a.ID || got.Name != "A" {
			d.Errorf("%+v", got)
		}
		for member, in := range map[string]repos.RenameIn{
			"/name": {Name: ptr("x.git")}, "/host": {Host: ptr("h:99999")}, "/forge": {Forge: ptr("svn")}, "/namespace": {Namespace: ptr("a//b")},
		} {
			_, err := d.tryRename(a.ID, in)
			if f, ok := errors.AsType[*fault.Fault](err); !ok || f.Code != "validation_failed" || f.Errors[0].Pointer != member {
				d.Errorf("%s: %v", member, err)
			}
		}
		bob := dbtest.Owner(d.T, d.Store, "bob").ID
		err := d.Try(func(q model.Querier) error {
			_, err := jobs.Renamer(jobs.NewHub(nil))(d.Context(), q, d.Now, repos.RenameIn{OwnerID: bob, RepoID: a.ID, Name: ptr("z")})
			return err
		})
		d.faulted(err, "not_found", "")
	})
}

func TestARepositoryMovesToAnotherForge(t *testing.T) {
	each(t, func(d *fixture) {
		seven := d.enqueue(about(named("site"), 7)).Job
		to := repos.Ref{Forge: "forgejo", Host: "code.example.org", Namespace: "tools", Name: "web"}
		_, err := d.tryRename(*seven.RepoID, repos.RenameIn{Forge: &to.Forge, Host: ptr("CODE.example.org:443"), Namespace: &to.Namespace, Name: &to.Name})
		if err != nil {
			d.Fatal(err)
		}
		d.keyed(seven.ID, to.IssueKey(7))
		for _, ref := range []*repos.Ref{named("site"), &to} {
			in := repos.ListIn{OwnerID: d.Owner, Ref: *ref}
			page, _, err := repos.Page(d.Context(), d.Store, in, keyset.Top(), 10)
			if err != nil || len(page) != 1 || page[0].ID != *seven.RepoID {
				d.Errorf("%+v finds %+v, %v", ref, page, err)
			}
		}
	})
}

func TestMoreThanAThousandLiveKeysAreNotRenamed(t *testing.T) {
	each(t, func(d *fixture) {
		var items []jobs.EnqueueIn
		for i := range int64(1001) {
			items = append(items, about(named("big"), i+1))
		}
		out, err := d.tryEnqueue(items...)
		if err != nil {
			d.Fatal(err)
		}
		job := out[0].Job
		_, err = d.tryRename(*job.RepoID, repos.RenameIn{Name: ptr("new")})
		d.faulted(err, "too_many_live_jobs", "")
		d.keyed(job.ID, *job.Key)
		if _, err := d.cancel(job.ID); err != nil {
			d.Fatal(err)
		}
		if got := d.rename(*job.RepoID, "new"); got.Rekeyed != 1000 {
			d.Errorf("%d jobs have another key", got.Rekeyed)
		}
	})
}

// A row that an earlier release kept under another spelling of its host goes on
// to be the repository, until a rename brings it right.
func TestHostsThatWereToldApartBeforeAreFound(t *testing.T) {
	each(t, func(d *fixture) {
		job := d.enqueue(about(named("site"), 7)).Job
		key := "issue:gitea:git.example.org:443/acme/site#7"
		dbtest.SQL(d.T, d.Store, "update repos set host = 'git.example.org:443' where id = $1", *job.RepoID)
		dbtest.SQL(d.T, d.Store, "update jobs set key = $1 where id = $2", key, job.ID)
		if again := d.enqueue(about(named("site"), 7)); again.Job.ID != job.ID {
			d.Errorf("the issue has a second job, with the key %s", *again.Job.Key)
		}
		d.keyed(job.ID, key)
		if _, err := d.tryRename(*job.RepoID, repos.RenameIn{Host: ptr("git.example.org")}); err != nil {
			d.Fatal(err)
		}
		d.keyed(job.ID, *job.Key)
		d.rename(*job.RepoID, "web")
		if again := d.enqueue(about(named("site"), 7)); again.Job.ID != job.ID {
			d.Error("the old name is forgotten")
		}
	})
}

func TestNoRenameWhileAnOlderReplicaServes(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		repo := d.track(named("old"))
		if d.Store.Engine() == store.SQLite { // a file has one server
			d.rename(repo.ID, "new")
			return
		}
		conn, _ := pgConn(d.T, d.Store)
		session := func(name string) {
			if _, err := conn.Exec(d.Context(), "select set_config('application_name', $1, false)", name); err != nil {
				d.Fatal(err)
			}
		}
		session("stint")
		_, err := d.tryRename(repo.ID, repos.RenameIn{Name: ptr("new")})
		d.faulted(err, "older_replica", "")
		d.rename(repo.ID, "OLD") // a spelling changes no key
		session("stint/0013")
		d.rename(repo.ID, "new")
	})
}

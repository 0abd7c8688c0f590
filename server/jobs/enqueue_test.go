package jobs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/repos"
)

func TestNewJobTakesTheDefaults(t *testing.T) {
	each(t, func(d *fixture) {
		got := d.enqueue(jobs.EnqueueIn{Kind: "build"})
		want := model.Job{
			ID: got.Job.ID, OwnerID: d.Owner, Kind: "build", State: jobs.Pending, Payload: js(`{}`),
			Priority: 3, RunAt: d.Now, MaxAttempts: 5, CreatedAt: d.Now, UpdatedAt: d.Now,
		}
		if diff := cmp.Diff(want, got.Job); diff != "" || got.Deduplicated || got.Again {
			t.Errorf("deduplicated %v, again %v, job (-want +got)\n%s", got.Deduplicated, got.Again, diff)
		}
		if diff := cmp.Diff(want, d.job(got.Job.ID)); diff != "" {
			d.Errorf("read again (-want +got)\n%s", diff)
		}
	})
}

func TestNewJobTakesWhatIsAsked(t *testing.T) {
	each(t, func(d *fixture) {
		got := d.enqueue(jobs.EnqueueIn{
			Kind: "build", Key: ptr("k"), Payload: js(`[1]`), Priority: ptr(int64(1)),
			RunAt: d.Now.Add(time.Hour), MaxAttempts: ptr(int64(2)), Traceparent: ptr("00-a-b-01"),
		}).Job
		want := model.Job{
			ID: got.ID, OwnerID: d.Owner, Kind: "build", State: jobs.Pending, Key: ptr("k"), Payload: js(`[1]`),
			Priority: 1, RunAt: d.Now.Add(time.Hour), MaxAttempts: 2, Traceparent: ptr("00-a-b-01"),
			CreatedAt: d.Now, UpdatedAt: d.Now,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			d.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestRunAtInThePastIsStoredAsNow(t *testing.T) {
	each(t, func(d *fixture) {
		for _, at := range []coltype.Time{d.Now.Add(-time.Microsecond), d.Now.Add(-1000 * time.Hour)} {
			if got := d.enqueue(jobs.EnqueueIn{RunAt: at}).Job.RunAt; !got.Equal(d.Now) {
				d.Errorf("run_at %s was stored as %s", at, got)
			}
		}
	})
}

func TestUnregisteredKindIsRegisteredWithDefaultsByItsFirstEnqueue(t *testing.T) {
	each(t, func(d *fixture) {
		d.enqueue(jobs.EnqueueIn{Kind: "new.kind"})
		d.Pass(time.Hour)
		d.enqueue(jobs.EnqueueIn{Kind: "new.kind"})
		kind, err := jobs.GetKind(d.Context(), d.Store, d.Owner, "new.kind")
		if err != nil {
			d.Fatal(err)
		}
		want := model.JobKind{
			OwnerID: d.Owner, Name: "new.kind", LeaseSeconds: 60, MaxAttempts: 5,
			BackoffBaseSeconds: 5, BackoffCapSeconds: 3600, Version: 1, CreatedAt: dbtest.T0, UpdatedAt: dbtest.T0,
		}
		if diff := cmp.Diff(want, kind); diff != "" {
			d.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestAbsentMaxAttemptsAreThoseOfTheKind(t *testing.T) {
	each(t, func(d *fixture) {
		d.putKind(jobs.KindIn{Name: "build", LeaseSeconds: 90, MaxAttempts: 7, BackoffBaseSeconds: 1, BackoffCapSeconds: 9})
		if got := d.enqueue(jobs.EnqueueIn{}).Job.MaxAttempts; got != 7 {
			d.Errorf("max_attempts %d, want the kind's 7", got)
		}
	})
}

func TestEveryOwnerHasTheBuiltinKindsOnly(t *testing.T) {
	each(t, func(d *fixture) {
		page, err := d.Store.KindPage(d.Context(), model.KindPageParams{OwnerID: d.Owner, Max: 100})
		if err != nil || len(page) != len(control.BuiltinKinds) {
			d.Fatalf("%d kinds, %v", len(page), err)
		}
		for _, name := range control.BuiltinKinds {
			if _, err := jobs.GetKind(d.Context(), d.Store, d.Owner, name); err != nil {
				d.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestJobWithoutAKeyIsNeverADuplicate(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		repo := &repos.Ref{Forge: "github", Host: "github.com", Namespace: "acme", Name: "site"}
		for _, in := range []jobs.EnqueueIn{{Kind: "build"}, {Kind: "build", Repo: repo}} {
			a, b := d.enqueue(in), d.enqueue(in)
			if a.Job.ID == b.Job.ID || b.Deduplicated || a.Job.Key != nil {
				d.Errorf("%s and %s, deduplicated %v, key %s", a.Job.ID, b.Job.ID, b.Deduplicated, text(a.Job.Key))
			}
			if (in.Repo == nil) != (a.Job.RepoID == nil) {
				d.Errorf("repo_id %s", text(a.Job.RepoID))
			}
		}
		if n := dbtest.Get[int](d.T, d.Store, "select count(*) from repos"); n != 1 {
			d.Errorf("%d repos are tracked, want 1", n)
		}
	})
}

// NAM-01: forges do not tell names apart by case.
func TestOneIssueHasOneLiveJobHoweverTheRepoIsSpelled(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		issue := func(namespace, name string) jobs.EnqueueIn {
			ref, faults := repos.Ref{Forge: "gitea", Host: "Git.Example.Org", Namespace: namespace, Name: name}.Normal()
			if len(faults) > 0 {
				d.Fatal(faults)
			}
			return jobs.EnqueueIn{Kind: "discover", Repo: &ref, IssueNumber: ptr(int64(7))}
		}
		first := d.enqueue(issue("Acme", "Repo"))
		second := d.enqueue(issue("acme", "REPO"))
		if !second.Deduplicated || second.Job.ID != first.Job.ID {
			d.Errorf("a second live job %s beside %s", second.Job.ID, first.Job.ID)
		}
		if got, want := text(first.Job.Key), "issue:gitea:git.example.org/acme/repo#7"; got != want {
			d.Errorf("key %q, want %q", got, want)
		}
		if name := dbtest.Get[string](d.T, d.Store, "select namespace || '/' || name from repos"); name != "Acme/Repo" {
			d.Errorf("the repo is kept as %q", name)
		}
		// Whatever the kind: one live job per issue.
		other := issue("Acme", "Repo")
		other.Kind = "implement"
		out, err := d.tryEnqueue(other)
		if err != nil {
			d.Fatal(err)
		}
		d.faulted(out[0].Err, "key_in_use", jobs.Pending)
		// History is unlimited: a recurring job on one issue.
		for range 3 {
			d.finished(d.claim("discover"), jobs.FinishIn{Action: jobs.Complete})
			if d.enqueue(issue("acme", "repo")).Deduplicated {
				d.Error("an ended job still holds the key")
			}
		}
		if n := len(d.list(jobs.ListIn{Key: *first.Job.Key})); n != 4 {
			d.Errorf("%d jobs of the key, want 4", n)
		}
	})
}

func TestKeysOfTwoOwnersDoNotMeet(t *testing.T) {
	each(t, func(d *fixture) {
		other := *d
		other.Owner = dbtest.Owner(d.T, d.Store, "bob").ID
		mine, theirs := d.enqueue(jobs.EnqueueIn{Key: ptr("k")}), other.enqueue(jobs.EnqueueIn{Key: ptr("k")})
		if theirs.Deduplicated || mine.Job.ID == theirs.Job.ID {
			d.Error("a key of another owner was met")
		}
		// A row of another owner answers exactly as an unknown id does.
		_, err := jobs.Get(d.Context(), d.Store, d.Owner, theirs.Job.ID)
		d.faulted(err, "not_found", "")
		_, err = d.cancel(theirs.Job.ID)
		d.faulted(err, "not_found", "")
		_, err = d.retry(theirs.Job.ID)
		d.faulted(err, "not_found", "")
		held := other.claim()
		_, err = d.beat(held, jobs.HeartbeatIn{})
		d.faulted(err, "not_found", "")
		for _, action := range []string{jobs.Complete, jobs.Fail, jobs.Snooze, jobs.Release} {
			_, err = d.finish(held, jobs.FinishIn{Action: action})
			d.faulted(err, "not_found", "")
		}
		if n := len(d.list(jobs.ListIn{})); n != 1 {
			d.Errorf("the list shows %d jobs, want 1", n)
		}
	})
}

func TestBatchAnswersItemByItemInOrder(t *testing.T) {
	each(t, func(d *fixture) {
		live := d.enqueue(jobs.EnqueueIn{Key: ptr("live")}).Job
		out, err := d.tryEnqueue(
			jobs.EnqueueIn{Kind: "build", Key: ptr("z"), Payload: js(`1`)},
			jobs.EnqueueIn{Kind: "build"},
			jobs.EnqueueIn{Kind: "other", Key: ptr("live")},
			jobs.EnqueueIn{Kind: "build", Key: ptr("a")},
			jobs.EnqueueIn{Kind: "build", Key: ptr("z"), Payload: js(`2`)},
			jobs.EnqueueIn{Kind: "build", Key: ptr("live"), Payload: js(`3`)},
		)
		if err != nil {
			d.Fatal(err)
		}
		d.faulted(out[2].Err, "key_in_use", jobs.Pending)
		for i, dedup := range []bool{false, false, false, false, true, true} {
			if out[i].Deduplicated != dedup {
				d.Errorf("item %d: deduplicated %v", i, out[i].Deduplicated)
			}
		}
		if out[4].Job.ID != out[0].Job.ID || out[5].Job.ID != live.ID {
			d.Error("a duplicate did not meet its key's live job")
		}
		if got := string(d.job(out[0].Job.ID).Payload); got != "2" {
			d.Errorf("the later item of a key left payload %s", got)
		}
		// Jobs of one batch are of one instant; they are claimed in its order.
		for _, want := range []string{live.ID, out[0].Job.ID, out[1].Job.ID, out[3].Job.ID} {
			if got := d.claim().Job.ID; got != want {
				d.Errorf("claimed %s, want %s", got, want)
			}
		}
	})
}

package repos_test

import (
	"errors"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// fixture is an owner with one repository.
type fixture struct {
	dbtest.Fixture
	repo string
}

func newFixture(t *testing.T, s *store.Store) *fixture {
	t.Helper()
	d := &fixture{Fixture: dbtest.NewFixture(t, s)}
	d.repo = d.track("acme", "site").ID
	return d
}

// eachWhole is for what takes back everybody's jobs.
var each, eachWhole = dbtest.EachOf(newFixture)

func (d *fixture) track(namespace, name string) model.Repo {
	d.Helper()
	var got repos.Tracked
	err := d.Try(func(q model.Querier) (err error) {
		ref := repos.Ref{Forge: "github", Host: "github.com", Namespace: namespace, Name: name}
		got, err = repos.Track(d.Context(), q, d.Now, repos.TrackIn{OwnerID: d.Owner, Ref: ref})
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return got.Repo
}

// tryOpen opens a proposal of head into main, by ada, unless in says otherwise.
func (d *fixture) tryOpen(in repos.ProposalIn) (got repos.Created, err error) {
	in.OwnerID, in.Actor, in.Title = d.Owner, "opener", "t"
	for member, usual := range map[*string]string{&in.RepoID: d.repo, &in.Stream: "main", &in.Author: "ada"} {
		if *member == "" {
			*member = usual
		}
	}
	err = d.Try(func(q model.Querier) error {
		got, err = repos.Create(d.Context(), q, d.Now, in)
		return err
	})
	return got, err
}

func (d *fixture) open(in repos.ProposalIn) repos.Created {
	d.Helper()
	got, err := d.tryOpen(in)
	if err != nil {
		d.Fatal(err)
	}
	return got
}

// tryMove moves a proposal from the version that was seen.
func (d *fixture) tryMove(id, to string, seen int64) (got model.Proposal, err error) {
	err = d.Try(func(q model.Querier) error {
		got, err = repos.Move(d.Context(), q, d.Now, repos.MoveIn{OwnerID: d.Owner, ID: id, To: to, Actor: "mover", Match: func(version int64) error {
			if version != seen {
				return fault.PreconditionFailed()
			}
			return nil
		}})
		return err
	})
	return got, err
}

func (d *fixture) move(id, to string, seen int64) model.Proposal {
	d.Helper()
	got, err := d.tryMove(id, to, seen)
	if err != nil {
		d.Fatalf("to %s: %v", to, err)
	}
	return got
}

func (d *fixture) get(id string) repos.Detail {
	d.Helper()
	got, err := repos.GetProposal(d.Context(), d.Store, d.Now, d.Owner, id)
	if err != nil {
		d.Fatal(err)
	}
	return got
}

// code is the code of a fault, or "".
func code(err error) string {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.Code
	}
	return ""
}

func ptr[T any](v T) *T { return &v }

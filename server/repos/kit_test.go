package repos_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// desk is one owner's repository under a clock that stands still until it is
// moved.
type desk struct {
	*testing.T
	s     *store.Store
	owner string
	repo  string
	now   coltype.Time
}

// each runs fn at a fresh desk of each engine.
func each(t *testing.T, fn func(d *desk)) {
	t.Helper()
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		d := &desk{T: t, s: s, owner: dbtest.Owner(t, s, "ada").ID, now: dbtest.T0}
		d.repo = d.track("acme", "site").ID
		fn(d)
	})
}

func (d *desk) pass(by time.Duration) { d.now = d.now.Add(by) }

// try runs fn in one transaction, again when SQLite's writer was not to be had
// in time, as a client does after Retry-After.
func (d *desk) try(fn func(q model.Querier) error) error {
	for {
		err := d.s.Tx(d.Context(), fn)
		if code(err) != "unavailable" || d.Context().Err() != nil {
			return err
		}
	}
}

func (d *desk) track(namespace, name string) model.Repo {
	d.Helper()
	var got repos.Tracked
	err := d.try(func(q model.Querier) (err error) {
		ref := repos.Ref{Forge: "github", Host: "github.com", Namespace: namespace, Name: name}
		got, err = repos.Track(d.Context(), q, d.now, repos.TrackIn{OwnerID: d.owner, Ref: ref})
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return got.Repo
}

// tryOpen opens a proposal of head into main, by ada, unless in says otherwise.
func (d *desk) tryOpen(in repos.ProposalIn) (got repos.Created, err error) {
	in.OwnerID, in.Actor, in.Title = d.owner, "opener", "t"
	for member, usual := range map[*string]string{&in.RepoID: d.repo, &in.Stream: "main", &in.Author: "ada"} {
		if *member == "" {
			*member = usual
		}
	}
	err = d.try(func(q model.Querier) error {
		got, err = repos.Create(d.Context(), q, d.now, in)
		return err
	})
	return got, err
}

func (d *desk) open(in repos.ProposalIn) repos.Created {
	d.Helper()
	got, err := d.tryOpen(in)
	if err != nil {
		d.Fatal(err)
	}
	return got
}

// tryMove moves a proposal from the version that was seen.
func (d *desk) tryMove(id, to string, seen int64) (got model.Proposal, err error) {
	err = d.try(func(q model.Querier) error {
		got, err = repos.Move(d.Context(), q, d.now, repos.MoveIn{OwnerID: d.owner, ID: id, To: to, Actor: "mover", Match: func(version int64) error {
			if version != seen {
				return fault.PreconditionFailed()
			}
			return nil
		}})
		return err
	})
	return got, err
}

func (d *desk) move(id, to string, seen int64) model.Proposal {
	d.Helper()
	got, err := d.tryMove(id, to, seen)
	if err != nil {
		d.Fatalf("to %s: %v", to, err)
	}
	return got
}

func (d *desk) get(id string) repos.Detail {
	d.Helper()
	got, err := repos.GetProposal(d.Context(), d.s, d.now, d.owner, id)
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

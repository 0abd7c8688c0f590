package repos_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/repos"
)

func TestProposingAgainReturnsTheOpenOneAsItIs(t *testing.T) {
	each(t, func(d *fixture) {
		first := d.open(repos.ProposalIn{Head: "a", Body: ptr("why"), Base: ptr("4f2a"), URL: ptr("https://example.org"), RunID: ptr("run_x")})
		want := model.Proposal{
			ID: first.Proposal.ID, OwnerID: d.Owner, RepoID: d.repo, Stream: "main", Head: "a", Base: ptr("4f2a"), Title: "t", Body: ptr("why"),
			Author: "ada", State: repos.Open, Url: ptr("https://example.org"), RunID: ptr("run_x"), Version: 1, CreatedAt: d.Now, UpdatedAt: d.Now,
		}
		if diff := cmp.Diff(repos.Created{Proposal: want}, first); diff != "" {
			d.Errorf("(-want +got)\n%s", diff)
		}
		d.Pass(time.Hour)
		again := d.open(repos.ProposalIn{Head: "a", Author: "bob", Body: ptr("other")})
		if diff := cmp.Diff(repos.Created{Proposal: want, Deduplicated: true}, again); diff != "" {
			d.Errorf("(-want +got)\n%s", diff)
		}
		for _, other := range []repos.ProposalIn{{Head: "A"}, {Head: "b"}, {Head: "a", Stream: "next"}, {Head: "a", RepoID: d.track("acme", "other").ID}} {
			if got := d.open(other); got.Deduplicated {
				d.Errorf("%+v met %s", other, got.Proposal.ID)
			}
		}
		// History is unlimited.
		for range 3 {
			p := d.open(repos.ProposalIn{Head: "a"}).Proposal
			d.move(p.ID, repos.Merged, 1)
		}
	})
}

func TestProposalOfARepositoryOfNobodyIsNotFound(t *testing.T) {
	each(t, func(d *fixture) {
		bob := *d
		bob.Owner = dbtest.Owner(t, d.Store, "bob").ID
		p := d.open(repos.ProposalIn{Head: "a"}).Proposal
		_, opened := bob.tryOpen(repos.ProposalIn{Head: "a"})
		_, moved := bob.tryMove(p.ID, repos.Closed, 1)
		_, got := repos.GetProposal(d.Context(), d.Store, d.Now, bob.Owner, p.ID)
		_, _, listed := repos.Proposals.Page(d.Context(), d.Store, repos.ProposalsIn{OwnerID: bob.Owner, RepoID: d.repo}, keyset.Top(), 9)
		_, counted := repos.Get(d.Context(), d.Store, bob.Owner, d.repo)
		for what, err := range map[string]error{"open": opened, "move": moved, "get": got, "list": listed, "count": counted} {
			if code(err) != "not_found" {
				d.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestTransitionsGoWhereTheStateAllows(t *testing.T) {
	for _, tt := range []struct {
		path []string // from open
		to   string
		want string
	}{
		{nil, repos.Merged, ""}, {nil, repos.Closed, ""}, {nil, repos.Open, "state_conflict"},
		{[]string{repos.Closed}, repos.Open, ""}, {[]string{repos.Closed}, repos.Merged, "state_conflict"}, {[]string{repos.Closed}, repos.Closed, "state_conflict"},
		{[]string{repos.Merged}, repos.Open, "state_conflict"}, {[]string{repos.Merged}, repos.Closed, "state_conflict"}, {[]string{repos.Merged}, repos.Merged, "state_conflict"},
		{[]string{repos.Closed, repos.Open}, repos.Merged, ""},
	} {
		t.Run(fmt.Sprint(tt.path, tt.to), func(t *testing.T) {
			each(t, func(d *fixture) {
				id := d.open(repos.ProposalIn{Head: "a"}).Proposal.ID
				for i, state := range tt.path {
					d.move(id, state, int64(i+1))
				}
				version := int64(len(tt.path) + 1)
				before := d.get(id)
				if _, err := d.tryMove(id, tt.to, version+1); code(err) != "precondition_failed" {
					d.Errorf("an unknown version is looked at first: %v", err)
				}
				d.Pass(time.Second)
				got, err := d.tryMove(id, tt.to, version)
				if code(err) != tt.want {
					d.Fatalf("%v, want %q", err, tt.want)
				}
				if tt.want != "" {
					if f, _ := errors.AsType[*fault.Fault](err); f.Members["proposal_id"] != id || f.Members["state"] != before.State {
						d.Errorf("the fault has %v", f.Members)
					}
					if diff := cmp.Diff(before, d.get(id)); diff != "" {
						d.Errorf("what was refused changed it\n%s", diff)
					}
				} else if got.State != tt.to || got.Version != version+1 || !got.UpdatedAt.Equal(d.Now) || got.ClosedAt.IsZero() != (tt.to == repos.Open) {
					d.Errorf("%+v", got)
				}
			})
		})
	}
}

func TestEveryTransitionIsKeptWithWhoAndWhen(t *testing.T) {
	each(t, func(d *fixture) {
		id := d.open(repos.ProposalIn{Head: "a"}).Proposal.ID
		want := []model.ProposalTransition{{OwnerID: d.Owner, ProposalID: id, Version: 1, ToState: repos.Open, Actor: "opener", EnteredAt: d.Now}}
		state := repos.Open
		for version := int64(1); version < 60; version++ {
			to := map[string]string{repos.Open: repos.Closed, repos.Closed: repos.Open}[state]
			d.Pass(time.Minute)
			d.move(id, to, version)
			want = append([]model.ProposalTransition{{
				OwnerID: d.Owner, ProposalID: id, Version: version + 1, FromState: ptr(state), ToState: to, Actor: "mover", EnteredAt: d.Now,
			}}, want...)
			state = to
		}
		if got := dbtest.Get[int](d.T, d.Store, "select count(*) from proposal_transitions where owner_id = $1", d.Owner); got != len(want) {
			d.Errorf("%d transitions are kept, want %d", got, len(want))
		}
		got := d.get(id) // shows the latest 50
		if diff := cmp.Diff(want[:50], got.Transitions); diff != "" || got.Version != 60 {
			d.Errorf("version %d (-want +got)\n%s", got.Version, diff)
		}
		// Time does not go back when the clock does.
		d.Pass(-time.Hour)
		if p := d.move(id, map[string]string{repos.Open: repos.Merged, repos.Closed: repos.Open}[state], 60); p.UpdatedAt.Before(got.UpdatedAt) {
			d.Errorf("updated at %s, before %s", p.UpdatedAt, got.UpdatedAt)
		}
	})
}

// meanwhile has others write between the two statements of a read.
type meanwhile struct {
	model.Reader
	write func()
}

func (m meanwhile) TransitionList(ctx context.Context, arg model.TransitionListParams) ([]model.ProposalTransition, error) {
	m.write()
	return m.Reader.TransitionList(ctx, arg)
}

func TestProposalMovedWhileItIsReadIsShownInOneVersion(t *testing.T) {
	each(t, func(d *fixture) {
		id := d.open(repos.ProposalIn{Head: "a"}).Proposal.ID
		want := d.get(id)
		got, err := repos.GetProposal(d.Context(), meanwhile{d.Store, func() { d.move(id, repos.Closed, 1) }}, d.Now, d.Owner, id)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			d.Errorf("%v (-want +got)\n%s", err, diff)
		}
	})
}

func TestReopeningBesideAnOpenProposalNamesThatOne(t *testing.T) {
	each(t, func(d *fixture) {
		old := d.open(repos.ProposalIn{Head: "a"}).Proposal
		d.move(old.ID, repos.Closed, 1)
		open := d.open(repos.ProposalIn{Head: "a"}).Proposal
		_, err := d.tryMove(old.ID, repos.Open, 2)
		f, _ := errors.AsType[*fault.Fault](err)
		if code(err) != "key_in_use" || f.Members["proposal_id"] != open.ID || f.Members["state"] != repos.Open {
			d.Errorf("%v", err)
		}
		d.move(open.ID, repos.Merged, 1)
		d.move(old.ID, repos.Open, 2)
	})
}

// Of two who judged the same version, exactly one is heard.
func TestOneOfMergeAndCloseOfAVersionWins(t *testing.T) {
	each(t, func(d *fixture) {
		for round := range 10 {
			id := d.open(repos.ProposalIn{Head: fmt.Sprint("head", round)}).Proposal.ID
			results := make([]string, 6)
			var wg sync.WaitGroup
			for i := range results {
				wg.Go(func() {
					_, err := d.tryMove(id, []string{repos.Merged, repos.Closed}[i%2], 1)
					results[i] = code(err)
					if err != nil && results[i] == "" {
						d.Error(err)
					}
				})
			}
			wg.Wait()
			won := 0
			for _, r := range results {
				if r == "" {
					won++
				} else if r != "precondition_failed" {
					d.Errorf("a loser heard %q", r)
				}
			}
			if got := d.get(id); won != 1 || got.Version != 2 || len(got.Transitions) != 2 {
				d.Errorf("%d won: version %d, %d transitions", won, got.Version, len(got.Transitions))
			}
		}
	})
}

// However creates and reopenings meet, one proposal of a head is open.
func TestAtMostOneProposalOfAHeadIsOpen(t *testing.T) {
	each(t, func(d *fixture) {
		for round := range 5 {
			head := fmt.Sprint("head", round)
			old := d.open(repos.ProposalIn{Head: head}).Proposal
			d.move(old.ID, repos.Closed, 1)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					if _, err := d.tryOpen(repos.ProposalIn{Head: head}); err != nil {
						d.Error(err)
					}
				})
				wg.Go(func() {
					if _, err := d.tryMove(old.ID, repos.Open, 2); err != nil && code(err) != "key_in_use" && code(err) != "precondition_failed" {
						d.Error(err)
					}
				})
			}
			wg.Wait()
			if n := dbtest.Get[int](d.T, d.Store, "select count(*) from proposals where closed_at is null and repo_id = $1 and head = $2", d.repo, head); n != 1 {
				d.Errorf("%d are open", n)
			}
		}
	})
}

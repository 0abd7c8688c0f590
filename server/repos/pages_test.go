package repos_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// plant writes n proposals into a repository of d, all of them made at one
// instant or step microseconds apart. State, stream and author follow from i.
func plant(d *fixture, repo string, n, step int) {
	d.Helper()
	numbers, at, pad := fmt.Sprintf("generate_series(1, %d) i", n), fmt.Sprintf("$3 + i * %d * interval '1 microsecond'", step), "lpad(i::text, 6, '0')"
	now := any(d.Now.Time)
	if d.Store.Engine() == store.SQLite {
		numbers = fmt.Sprintf("(with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) select i from n)", n)
		at, pad, now = fmt.Sprintf("$3 + i * %d", step), "printf('%06d', i)", d.Now.UnixMicro()
	}
	query := strings.NewReplacer("AT", "("+at+")", "PAD", pad, "NUMBERS", numbers).Replace(`
		insert into proposals (id, owner_id, repo_id, stream, head, title, author, state, version, created_at, updated_at, closed_at)
		select 'prop_' || $2 || PAD, $1, $2, case when i % 3 = 0 then 'next' else 'main' end, 'head' || PAD, 't',
			case when i % 5 < 4 then 'ada' else 'bob' end, case when i % 4 = 0 then 'open' when i % 4 = 1 then 'closed' else 'merged' end,
			1, AT, AT, case when i % 4 > 0 then AT end
		from NUMBERS`)
	if d.Store.Engine() == store.Postgres {
		query = strings.NewReplacer("$1", "cast($1 as text)", "$2", "cast($2 as text)", "$3", "cast($3 as timestamptz)").Replace(query)
	}
	dbtest.SQL(d.T, d.Store, query, d.Owner, repo, now)
}

// filters are every combination: all, and each member alone and with the others.
func filters(d *fixture, repo string) (all []repos.ProposalsIn) {
	for _, state := range []string{"", repos.Open, repos.Closed, repos.Merged} {
		for _, stream := range []string{"", "main", "next"} {
			for _, author := range []string{"", "ada", "bob"} {
				all = append(all, repos.ProposalsIn{OwnerID: d.Owner, RepoID: repo, State: state, Stream: stream, Author: author})
			}
		}
	}
	return all
}

func matches(in repos.ProposalsIn, p model.Proposal) bool {
	return (in.State == "" || p.State == in.State) && (in.Stream == "" || p.Stream == in.Stream) && (in.Author == "" || p.Author == in.Author)
}

// read is a whole list, by pages of that limit.
func read(d *fixture, in repos.ProposalsIn, limit int) (all []model.Proposal) {
	d.Helper()
	for from := keyset.Top(); ; {
		page, next, err := repos.Proposals.Page(d.Context(), d.Store, in, from, limit)
		if err != nil {
			d.Fatal(err)
		}
		for _, p := range page {
			if !matches(in, p) {
				d.Errorf("%+v shows %+v", in, p)
			}
		}
		all = append(all, page...)
		if next == nil {
			return all
		}
		from = *next
	}
}

func ids(all []model.Proposal) []string {
	return keyset.Convert(all, func(p model.Proposal) string { return p.ID })
}

// newestFirst is the order of a list.
func newestFirst(a, b model.Proposal) int {
	if c := b.CreatedAt.Compare(a.CreatedAt.Time); c != 0 {
		return c
	}
	return strings.Compare(b.ID, a.ID)
}

// CUR-02, CUR-04: microseconds apart, in one order on both engines, each once.
func TestEveryFilterSelectsEachProposalOnceNewestFirst(t *testing.T) {
	each(t, func(d *fixture) {
		plant(d, d.repo, 500, 1)
		plant(d, d.track("acme", "beside").ID, 50, 0)
		all := read(d, repos.ProposalsIn{OwnerID: d.Owner, RepoID: d.repo}, 200)
		if len(all) != 500 || !slices.IsSortedFunc(all, newestFirst) {
			d.Fatalf("%d proposals", len(all))
		}
		for _, in := range filters(d, d.repo) {
			want := slices.DeleteFunc(slices.Clone(all), func(p model.Proposal) bool { return !matches(in, p) })
			if diff := cmp.Diff(ids(want), ids(read(d, in, 7))); diff != "" {
				d.Errorf("%+v (-want +got)\n%s", in, diff)
			}
		}
	})
}

// CUR-01, CUR-13: many pages of one instant, under every filter, while others
// open, close and reopen proposals: what stood comes once, and nothing twice.
func TestPagesHoldEachProposalThatStoodOnceWhileOthersWrite(t *testing.T) {
	each(t, func(d *fixture) {
		plant(d, d.repo, 2000, 0)
		before := read(d, repos.ProposalsIn{OwnerID: d.Owner, RepoID: d.repo}, 1000)
		if len(before) != 2000 {
			d.Fatalf("%d proposals", len(before))
		}
		moving := map[string]bool{}
		var movers []model.Proposal
		for i, p := range before {
			if i%40 == 7 && p.State != repos.Merged {
				moving[p.ID] = true
				movers = append(movers, p)
			}
		}
		stop := churn(d, movers)
		for _, in := range filters(d, d.repo) {
			got := read(d, in, 50)
			seen := map[string]bool{}
			for _, p := range got {
				if seen[p.ID] {
					d.Errorf("%+v shows %s twice", in, p.ID)
				}
				seen[p.ID] = true
			}
			for _, p := range before {
				if !moving[p.ID] && matches(in, p) != seen[p.ID] {
					d.Errorf("%+v: %s stood, and was shown: %v", in, p.ID, seen[p.ID])
				}
			}
			if !slices.IsSortedFunc(got, newestFirst) {
				d.Errorf("%+v is out of order", in)
			}
		}
		if n := stop(); n < 10 {
			d.Errorf("only %d writes went on meanwhile", n)
		}
	})
}

// churn closes and reopens the movers and opens new proposals, of the instant of
// the others and of later ones, until it is stopped; that returns how many.
func churn(d *fixture, movers []model.Proposal) (stop func() int) {
	ctx, cancel := context.WithCancel(d.Context())
	var wg sync.WaitGroup
	writes := 0
	wg.Go(func() {
		own := *d
		for i := 0; ctx.Err() == nil; i++ {
			p := &movers[i%len(movers)]
			to := map[string]string{repos.Open: repos.Closed, repos.Closed: repos.Open}[p.State]
			moved, err := own.tryMove(p.ID, to, p.Version)
			if err != nil {
				own.Errorf("move %s: %v", p.ID, err)
				return
			}
			*p = moved
			if i%2 == 0 {
				own.Pass(time.Microsecond)
			}
			if _, err := own.tryOpen(repos.ProposalIn{Head: fmt.Sprint("new", i), Author: "bob"}); err != nil {
				own.Errorf("open: %v", err)
				return
			}
			writes += 2
		}
	})
	return func() int { cancel(); wg.Wait(); return writes }
}

// A walk ends after 2,000 entries: a page may be empty, and the list goes on.
func TestFilterWithinAnAuthorsProposalsEndsAWalk(t *testing.T) {
	each(t, func(d *fixture) {
		plant(d, d.repo, 2505, 0) // 2,004 of them ada's
		dbtest.SQL(d.T, d.Store, "update proposals set stream = 'rare' where repo_id = $1 and id like '%000001'", d.repo)
		in := repos.ProposalsIn{OwnerID: d.Owner, RepoID: d.repo, Author: "ada", Stream: "rare"}
		var shape []int
		for from := keyset.Top(); ; {
			page, next, err := repos.Proposals.Page(d.Context(), d.Store, in, from, 10)
			if err != nil {
				d.Fatal(err)
			}
			shape = append(shape, len(page))
			if next == nil {
				break
			}
			from = *next
		}
		if diff := cmp.Diff([]int{0, 1}, shape); diff != "" {
			d.Errorf("pages (-want +got)\n%s", diff)
		}
	})
}

func TestProposalsAreCountedToAThousand(t *testing.T) {
	each(t, func(d *fixture) {
		plant(d, d.repo, 4004, 0) // 1,001 open and as many closed
		plant(d, d.track("acme", "beside").ID, 50, 0)
		got, err := repos.Get(d.Context(), d.Store, d.Owner, d.repo)
		if err != nil || got.OpenProposals != 1001 || got.ClosedProposals != 1001 || got.MergedProposals != 1001 {
			d.Errorf("%d open, %d closed, %d merged, %v", got.OpenProposals, got.ClosedProposals, got.MergedProposals, err)
		}
		dbtest.SQL(d.T, d.Store, "delete from proposals where repo_id = $1 and id like '%000004'", d.repo)
		if got, err = repos.Get(d.Context(), d.Store, d.Owner, d.repo); err != nil || got.OpenProposals != 1000 {
			d.Errorf("%d open, %v", got.OpenProposals, err)
		}
	})
}

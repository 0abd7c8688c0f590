package jobs_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/jobs"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// pages reads a list page by page, and the ids of each page.
func (d *fixture) pages(in jobs.ListIn, limit int) (pages [][]string) {
	d.Helper()
	in.OwnerID = d.Owner
	for from := keyset.Top(); ; {
		page, next, err := jobs.List.Page(d.Context(), d.Store, in, from, limit)
		if err != nil {
			d.Fatal(err)
		}
		ids := []string{}
		for _, job := range page {
			ids = append(ids, job.ID)
		}
		pages = append(pages, ids)
		if next == nil {
			return pages
		}
		from = *next
	}
}

// onceEach checks that pages hold n distinct ids, and how many pages they are.
func (d *fixture) onceEach(pages [][]string, n, want int) {
	d.Helper()
	ids := slices.Concat(pages...)
	slices.Sort(ids)
	if distinct := len(slices.Compact(slices.Clone(ids))); len(ids) != n || distinct != n || len(pages) != want {
		d.Errorf("%d items, %d distinct, on %d pages; want %d on %d", len(ids), distinct, len(pages), n, want)
	}
}

// CUR-01: a thousand jobs of one instant.
func TestPagesOfOneInstantHoldEveryJobOnce(t *testing.T) {
	each(t, func(d *fixture) {
		var items []jobs.EnqueueIn
		for range 1000 {
			items = append(items, jobs.EnqueueIn{Kind: "build"})
		}
		if _, err := d.tryEnqueue(items...); err != nil {
			d.Fatal(err)
		}
		for _, in := range []jobs.ListIn{{}, {State: jobs.Pending}, {Kind: "build"}} {
			pages := d.pages(in, 50)
			d.onceEach(pages, 1000, 20)
			if !slices.IsSortedFunc(slices.Concat(pages...), func(a, b string) int { return -cmpText(a, b) }) {
				d.Errorf("%+v: not newest first", in)
			}
		}
	})
}

func cmpText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// CUR-02, CUR-04: a microsecond apart; the order is that of the instants, the
// same on both engines, whoever wrote the row.
func TestPagesKeepMicrosecondsApart(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		plant(d, 300, "build", jobs.Pending, d.Now)
		d.plantTimes(func(i int) coltype.Time { return d.Now.Add(time.Duration(i*7%300) * time.Microsecond) })
		pages := d.pages(jobs.ListIn{}, 20)
		d.onceEach(pages, 300, 15)
		last := keyset.Top().At
		for _, id := range slices.Concat(pages...) {
			at := d.job(id).CreatedAt
			if !at.Before(last) {
				d.Fatalf("%s comes after %s", at, last)
			}
			last = at
		}
	})
}

// plantTimes gives the jobs other times of creation, in the order of their ids.
func (d *fixture) plantTimes(at func(i int) coltype.Time) {
	d.Helper()
	db := dbtest.DB(d.T, d.Store)
	tx, err := db.BeginTx(d.Context(), nil)
	if err != nil {
		d.Fatal(err)
	}
	for i, job := range d.list(jobs.ListIn{}) {
		if _, err := tx.ExecContext(d.Context(), "update jobs set created_at = $1 where id = $2", arg(d.Store, at(i)), job.ID); err != nil {
			d.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		d.Fatal(err)
	}
}

// arg is a time as a bare argument of an engine.
func arg(s *store.Store, at coltype.Time) any {
	if s.Engine() == store.SQLite {
		return at.UnixMicro()
	}
	return at.Time
}

func TestTimesOfEveryWritingSortAlikeOnBothEngines(t *testing.T) {
	each(t, func(d *fixture) {
		steps := []time.Duration{0, 500 * time.Millisecond, 500_001 * time.Microsecond, 500_010 * time.Microsecond, time.Second, 9 * time.Second, 10 * time.Second}
		var want []string
		for _, i := range []int{3, 0, 6, 2, 5, 1, 4} {
			d.Now = dbtest.T0.Add(steps[i])
			d.enqueue(jobs.EnqueueIn{Payload: js(fmt.Sprint(i))})
		}
		for i := range steps {
			want = append([]string{fmt.Sprint(i)}, want...)
		}
		var got []string
		for _, id := range slices.Concat(d.pages(jobs.ListIn{}, 2)...) {
			got = append(got, string(d.job(id).Payload))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			d.Errorf("(-want +got)\n%s", diff)
		}
		got, d.Now = nil, dbtest.T0.Add(time.Minute)
		for range steps {
			got = append([]string{string(d.claim().Job.Payload)}, got...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			d.Errorf("claimed (-want +got, reversed)\n%s", diff)
		}
	})
}

// plantFilters plants jobs over kinds, keys, states and repositories, and returns what a filter
// should select, newest first.
func plantFilters(d *fixture) func(in jobs.ListIn) []string {
	var all []model.Job
	for i := range 60 {
		d.Pass(time.Second)
		in := jobs.EnqueueIn{Kind: []string{"a", "b", "c"}[i%3]}
		if i%4 == 0 {
			in.Key = ptr("k")
		}
		if i%7 < 3 {
			in.Repo = &repos.Ref{Forge: "github", Host: "github.com", Namespace: "acme", Name: []string{"site", "shop", "docs"}[i%7]}
		}
		job := d.enqueue(in).Job
		switch {
		case i%4 == 0, i%5 == 0: // one live job per key at most
			held := d.claim(in.Kind)
			for held.Job.ID != job.ID {
				held = d.claim(in.Kind)
			}
			d.finished(held, jobs.FinishIn{Action: []string{jobs.Complete, jobs.Fail}[i/4%2]})
		}
	}
	for _, job := range d.list(jobs.ListIn{}) {
		all = append(all, d.job(job.ID))
	}
	return func(in jobs.ListIn) []string {
		ids := []string{}
		for _, j := range all {
			if (in.State == "" || j.State == in.State) && (in.Kind == "" || j.Kind == in.Kind) && (in.Key == "" || text(j.Key) == in.Key) && (in.RepoID == "" || text(j.RepoID) == in.RepoID) {
				ids = append(ids, j.ID)
			}
		}
		return ids
	}
}

func TestEveryFilterSelectsItsJobsNewestFirst(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		want := plantFilters(d)
		repo := dbtest.Get[string](d.T, d.Store, "select id from repos where name = 'site'")
		for _, state := range append([]string{""}, jobs.States...) {
			for _, kind := range []string{"", "a", "nobody"} {
				for _, in := range []jobs.ListIn{{}, {Key: "k"}, {Key: "nobody"}, {RepoID: repo}, {RepoID: repo, Key: "k"}, {RepoID: "nobody"}} {
					in.State, in.Kind = state, kind
					for _, limit := range []int{1, 7, 100} {
						got := slices.Concat(d.pages(in, limit)...)
						if diff := cmp.Diff(want(in), append([]string{}, got...)); diff != "" {
							d.Errorf("%+v (-want +got)\n%s", in, diff)
						}
					}
				}
			}
		}
	})
}

func TestResidualFilterWalksTwoThousandEntriesAPage(t *testing.T) {
	eachWhole(t, func(d *fixture) {
		needle := d.enqueue(jobs.EnqueueIn{Kind: "needle"}).Job
		d.Pass(time.Second)
		plant(d, 2*keyset.Walk+10, "build", jobs.Pending, d.Now)
		pages := d.pages(jobs.ListIn{Kind: "needle"}, 5)
		if diff := cmp.Diff([][]string{{}, {}, {needle.ID}}, pages); diff != "" {
			d.Errorf("pages (-want +got)\n%s", diff)
		}
		if n := len(d.pages(jobs.ListIn{Kind: "needle", State: jobs.Claimed}, 5)); n != 1 {
			d.Errorf("%d pages of a state without jobs", n)
		}
	})
}

func TestListCostsOneStatementAndTwoWithAResidualFilter(t *testing.T) {
	each(t, func(d *fixture) {
		d.enqueue(jobs.EnqueueIn{Key: ptr("k")})
		for in, want := range map[jobs.ListIn]int64{
			{}: 1, {State: jobs.Pending}: 1, {Key: "k"}: 1,
			{Kind: "build"}: 2, {Kind: "build", State: jobs.Pending}: 2, {Key: "k", State: jobs.Pending}: 2,
			{Kind: "nobody"}: 1,
		} {
			ctx, stats := store.WithStats(d.Context())
			in.OwnerID = d.Owner
			if _, _, err := jobs.List.Page(ctx, d.Store, in, keyset.Top(), 20); err != nil || int64(stats.Statements()) != want {
				d.Errorf("%+v: %d statements, want %d, %v", in, stats.Statements(), want, err)
			}
		}
	})
}

// between is a reader that lets something happen between the walk and the rows.
type between struct {
	model.Reader
	happen func()
}

func (b between) JobListByIDs(ctx context.Context, arg model.JobListByIDsParams) ([]model.Job, error) {
	b.happen()
	return b.Reader.JobListByIDs(ctx, arg)
}

func TestFilteredListShowsNoJobThatHasLeftTheFilterMeanwhile(t *testing.T) {
	each(t, func(d *fixture) {
		first, second := d.enqueue(jobs.EnqueueIn{}).Job, d.enqueue(jobs.EnqueueIn{}).Job
		q := between{d.Store, func() { d.claim() }}
		page, next, err := jobs.List.Page(d.Context(), q, jobs.ListIn{OwnerID: d.Owner, Kind: "build", State: jobs.Pending}, keyset.Top(), 9)
		if err != nil || next != nil || len(page) != 1 || page[0].ID != second.ID {
			d.Errorf("%d jobs, next %v, %v; want %s alone, %s is claimed", len(page), next, err, second.ID, first.ID)
		}
	})
}

package runs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

func TestShownIsDecidedByTheLeaseBehindARunningRun(t *testing.T) {
	t.Parallel()
	now := dbtest.T0
	claimed, pending, job := "claimed", "pending", "job_1"
	for _, tt := range []struct {
		name string
		run  runs.Run
		want string
	}{
		{"a live lease", runs.Run{Status: runs.Running, JobID: &job, JobState: &claimed, JobLeaseExpiresAt: now.Add(time.Second)}, runs.InProgress},
		{"within the grace", runs.Run{Status: runs.Running, JobID: &job, JobState: &claimed, JobLeaseExpiresAt: now.Add(-runs.Grace)}, runs.InProgress},
		{"past the grace", runs.Run{Status: runs.Running, JobID: &job, JobState: &claimed, JobLeaseExpiresAt: now.Add(-runs.Grace - time.Microsecond)}, runs.Failed},
		{"a job that is not claimed", runs.Run{Status: runs.Running, JobID: &job, JobState: &pending}, runs.Failed},
		{"no job", runs.Run{Status: runs.Running}, runs.Failed},
		{"a live lease of its own", runs.Run{Status: runs.Running, LeaseExpiresAt: now.Add(time.Second)}, runs.InProgress},
		{"its own, within the grace", runs.Run{Status: runs.Running, LeaseExpiresAt: now.Add(-runs.Grace)}, runs.InProgress},
		{"its own, past the grace", runs.Run{Status: runs.Running, LeaseExpiresAt: now.Add(-runs.Grace - time.Microsecond)}, runs.Failed},
		{"its own, longer than one can be", runs.Run{Status: runs.Running, LeaseExpiresAt: runs.LatestEnd(now).Add(time.Microsecond)}, runs.Failed},
		{"its own beside a job's that ended", runs.Run{Status: runs.Running, JobID: &job, LeaseExpiresAt: now.Add(time.Second)}, runs.Failed},
	} {
		if got := runs.Shown(tt.run, now); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for _, status := range runs.Statuses[1:] {
		if got := runs.Shown(runs.Run{Status: status, JobState: &claimed, JobLeaseExpiresAt: now.Add(time.Hour)}, now); got != status {
			t.Errorf("%s is shown as %s", status, got)
		}
	}
}

// open opens a run of each job id, in its own transaction.
func open(t *testing.T, s *store.Store, owner string, now coltype.Time, jobIDs ...string) (ids []string) {
	t.Helper()
	attempts := make([]runs.Attempt, len(jobIDs))
	for i, id := range jobIDs {
		attempts[i] = runs.Attempt{JobID: id, Attempt: 1, LeaseToken: "token of " + id}
	}
	err := s.Tx(t.Context(), func(q model.Querier) (err error) {
		ids, err = runs.Open(t.Context(), q, now, owner, "w1", attempts)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func end(t *testing.T, s *store.Store, now coltype.Time, in runs.EndIn) (run runs.Run, err error) {
	t.Helper()
	err = s.Tx(t.Context(), func(q model.Querier) error {
		run, err = runs.End(t.Context(), q, now, in)
		return err
	})
	return run, err
}

func TestFirstEndOfARunWins(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		owner, now := dbtest.Owner(t, s, "ada").ID, dbtest.T0
		id := open(t, s, owner, now, "job_1")[0]
		first, err := end(t, s, now.Add(time.Second), runs.EndIn{OwnerID: owner, JobID: "job_1", Status: runs.Failed, Reason: "r", Error: coltype.JSON(`{"code":"x"}`)})
		if err != nil || first.ID != id || first.Status != runs.Failed {
			t.Errorf("%+v, %v", first, err)
		}
		if _, err := end(t, s, now.Add(time.Minute), runs.EndIn{OwnerID: owner, JobID: "job_1", Status: runs.Succeeded}); !store.NotFound(err) {
			t.Errorf("a second end: %v", err)
		}
		got, err := runs.Get(t.Context(), s, owner, id)
		if diff := cmp.Diff(first, got); diff != "" || err != nil {
			t.Errorf("%v (-first +read)\n%s", err, diff)
		}
		// A job has at most one running run; the next attempt's is another row.
		open(t, s, owner, now.Add(time.Second), "job_1")
		err = s.Tx(t.Context(), func(q model.Querier) error {
			_, err := runs.Open(t.Context(), q, now, owner, "w2", []runs.Attempt{{JobID: "job_1", Attempt: 2, LeaseToken: "t"}})
			return err
		})
		if !store.UniqueViolation(err) {
			t.Errorf("a second running run: %v", err)
		}
	})
}

func TestRunIsFoundByItsTokenUnderItsJobOnly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		owner, other := dbtest.Owner(t, s, "ada").ID, dbtest.Owner(t, s, "bob").ID
		id := open(t, s, owner, dbtest.T0, "job_1", "job_2")[0]
		if run, err := runs.ByToken(t.Context(), s, owner, "job_1", "token of job_1"); err != nil || run.ID != id {
			t.Errorf("%s, %v", run.ID, err)
		}
		for _, bad := range [][3]string{{owner, "job_1", "token of job_2"}, {owner, "job_2", "token of job_1"}, {other, "job_1", "token of job_1"}, {owner, "job_1", ""}} {
			if _, err := runs.ByToken(t.Context(), s, bad[0], bad[1], bad[2]); !store.NotFound(err) {
				t.Errorf("%v: %v", bad, err)
			}
		}
		var f *fault.Fault
		if _, err := runs.Get(t.Context(), s, other, id); !errors.As(err, &f) || f.Code != "not_found" {
			t.Errorf("a run of another owner: %v", err)
		}
	})
}

// pages reads a list page by page and returns its ids.
func pages(t *testing.T, s *store.Store, in runs.ListIn, limit int) (pages [][]string) {
	t.Helper()
	for from := keyset.Top(); ; {
		page, next, err := runs.List.Page(t.Context(), s, in, from, limit)
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, r := range page {
			ids = append(ids, r.ID)
		}
		pages = append(pages, ids)
		if next == nil {
			return pages
		}
		from = *next
	}
}

// CUR-01, and every filter: of runs of one instant each comes once.
func TestListSelectsEachRunOnceNewestFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		owner, now := dbtest.Owner(t, s, "ada").ID, dbtest.T0
		var all []runs.Run
		statuses := map[string]string{}
		for round := range 3 {
			var jobIDs []string
			for i := range 30 {
				jobIDs = append(jobIDs, fmt.Sprint("job_", i))
			}
			for _, id := range open(t, s, owner, now, jobIDs...) {
				statuses[id] = runs.Running
			}
			for i := range 30 {
				if round == 2 && i%3 == 0 {
					continue // still running
				}
				run, err := end(t, s, now, runs.EndIn{OwnerID: owner, JobID: jobIDs[i], Status: runs.Statuses[1+i%6]})
				if err != nil {
					t.Fatal(err)
				}
				statuses[run.ID] = run.Status
			}
			now = now.Add(time.Duration(round) * time.Microsecond) // the first two rounds are of one instant
		}
		for id := range statuses {
			run, err := runs.Get(t.Context(), s, owner, id)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, run)
		}
		slices.SortFunc(all, func(a, b runs.Run) int {
			if c := b.CreatedAt.Compare(a.CreatedAt.Time); c != 0 {
				return c
			}
			return map[bool]int{true: 1, false: -1}[a.ID < b.ID]
		})
		for _, status := range append([]string{""}, runs.Statuses...) {
			for _, job := range []string{"", "job_3", "nobody"} {
				for _, kind := range []string{"", "job", "manual"} {
					in := runs.ListIn{OwnerID: owner, Status: status, JobID: job, Kind: kind}
					want := []string{}
					for _, r := range all {
						if (status == "" || r.Status == status) && (job == "" || *r.JobID == job) && (kind == "" || r.Kind == kind) {
							want = append(want, r.ID)
						}
					}
					got := append([]string{}, slices.Concat(pages(t, s, in, 7)...)...)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%+v (-want +got)\n%s", in, diff)
					}
				}
			}
		}
		if n := len(pages(t, s, runs.ListIn{OwnerID: owner}, 30)); n != 3 {
			t.Errorf("%d pages of 90 runs", n)
		}
	})
}

// between is a reader that lets something happen between the walk and the rows.
type between struct {
	model.Reader
	happen func()
}

func (b between) RunListByIDs(ctx context.Context, arg model.RunListByIDsParams) ([]model.RunListByIDsRow, error) {
	b.happen()
	return b.Reader.RunListByIDs(ctx, arg)
}

func TestFilteredListShowsNoRunThatHasLeftTheFilterMeanwhile(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		owner := dbtest.Owner(t, s, "ada").ID
		ids := open(t, s, owner, dbtest.T0, "job_1", "job_2")
		q := between{s, func() {
			if _, err := end(t, s, dbtest.T0, runs.EndIn{OwnerID: owner, JobID: "job_1", Status: runs.Failed}); err != nil {
				t.Fatal(err)
			}
		}}
		page, next, err := runs.List.Page(t.Context(), q, runs.ListIn{OwnerID: owner, Kind: runs.KindJob, Status: runs.Running}, keyset.Top(), 9)
		if err != nil || next != nil || len(page) != 1 || page[0].ID != ids[1] {
			t.Errorf("%d runs, next %v, %v; want %s alone", len(page), next, err, ids[1])
		}
	})
}

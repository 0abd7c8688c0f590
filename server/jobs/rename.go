package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// MaxRekeyed bounds the live jobs of issues that one renaming gives another key.
const MaxRekeyed = int64(1000)

// Renamer gives a repository another name, and the live jobs of its issues the
// keys that follow from it. Ended jobs keep the keys that they had. Claims that
// wait look again: they pass over the jobs while those are locked.
//
// The repository is locked first, then the jobs by id, which is the order
// everywhere. Meanwhile no key is made from the old name: an enqueue and a retry by
// hand hold the repository too. A job that ends before it is locked here may leave
// a successor, so the jobs are looked for until none is left.
func Renamer(hub *Hub) repos.Renamer {
	return func(ctx context.Context, q model.Querier, now coltype.Time, in repos.RenameIn) (repos.Renamed, error) {
		c, err := repos.Rename(ctx, q, now, in)
		if err != nil {
			return repos.Renamed{}, err
		}
		var keys rekeyed
		for c.Moves() {
			n, err := liveIssues(ctx, q, in.OwnerID, c.From)
			if err != nil {
				return repos.Renamed{}, err
			}
			if n == 0 {
				break
			}
			if err := keys.rekey(ctx, q, now, c); err != nil {
				return repos.Renamed{}, err
			}
		}
		return repos.Renamed{Repo: c.Repo, Rekeyed: keys.jobs, After: func() { hub.Wake(in.OwnerID, keys.kinds...) }}, nil
	}
}

// rekeyed is how many jobs have another key, and their kinds.
type rekeyed struct {
	jobs  int64
	kinds []string
}

// liveIssues is how many issues of a repository have a live job, at most
// MaxRekeyed.
func liveIssues(ctx context.Context, q model.Reader, ownerID string, name repos.Ref) (int64, error) {
	first, end := name.IssueKeys()
	n, err := q.JobCountIssues(ctx, model.JobCountIssuesParams{OwnerID: ownerID, FirstKey: first, EndKey: end, Max: MaxRekeyed + 1})
	if err != nil {
		return 0, fmt.Errorf("count live jobs of %s/%s: %w", name.Namespace, name.Name, err)
	}
	if n > MaxRekeyed {
		return 0, fault.TooManyLiveJobs(MaxRekeyed)
	}
	return n, nil
}

// rekey gives the live jobs their other keys.
func (k *rekeyed) rekey(ctx context.Context, q model.Querier, now coltype.Time, c repos.Change) error {
	first, end := c.From.IssueKeys()
	live, err := q.JobLockIssues(ctx, model.JobLockIssuesParams{OwnerID: c.Repo.OwnerID, FirstKey: first, EndKey: end, Max: MaxRekeyed})
	if err != nil {
		return fmt.Errorf("lock the live jobs of %s: %w", c.Repo.ID, err)
	}
	ids := make([]string, len(live))
	for i, job := range live {
		if ids[i] = job.ID; !slices.Contains(k.kinds, job.Kind) {
			k.kinds = append(k.kinds, job.Kind)
		}
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	to, _ := c.To.IssueKeys()
	n, err := q.JobRekey(ctx, model.JobRekeyParams{OwnerID: c.Repo.OwnerID, Ids: string(text), Prefix: to, Now: now, Latest: now.Add(store.Apart)})
	if err != nil {
		return fmt.Errorf("give the live jobs of %s other keys: %w", c.Repo.ID, err)
	}
	k.jobs += n
	return nil
}

package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/store"
)

// EnqueueIn is one job to enqueue. A nil or zero member is absent: a new job
// takes the default, a duplicate leaves what it finds.
type EnqueueIn struct {
	Kind        string
	Key         *string
	Repo        *repos.Ref // normal, or a name that it had; with IssueNumber it makes the key
	IssueNumber *int64
	Payload     coltype.JSON
	Priority    *int64
	RunAt       coltype.Time
	MaxAttempts *int64
	Timeout     *int64 // seconds, of each attempt
	Traceparent *string
	Keep        bool // a duplicate changes nothing
}

// Enqueued is what became of one item.
type Enqueued struct {
	Job          model.Job
	Deduplicated bool  // the key was live: Job is the live job
	Again        bool  // kept to run after the claimed Job
	Err          error // a fault of this item alone
}

// key is the key of the item: its issue's under the present name of its
// repository, its own, or none.
func (in EnqueueIn) key(repo model.Repo) *string {
	if in.Repo != nil && in.IssueNumber != nil {
		key := repos.NameOf(repo).IssueKey(*in.IssueNumber)
		return &key
	}
	return in.Key
}

// Enqueue enqueues the items of one owner, in order, in the transaction of q.
// It is an upsert: an item whose key is live meets the live job (see
// duplicate). Kinds that are not registered are, and repositories that are not
// tracked are tracked.
func Enqueue(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, items []EnqueueIn) ([]Enqueued, error) {
	kinds, err := registered(ctx, q, now, ownerID, kindsOf(items))
	if err != nil {
		return nil, err
	}
	tracked, err := trackAll(ctx, q, now, ownerID, items)
	if err != nil {
		return nil, err
	}
	rows := make([]newJob, len(items))
	for i, in := range items {
		var repo model.Repo
		if in.Repo != nil {
			repo = tracked[*in.Repo]
		}
		rows[i] = in.row(now, kinds[in.Kind], repo)
	}
	return upsert(ctx, q, now, ownerID, items, rows)
}

// upsert gives every item its job: a new one, or the live one of its key that
// it then meets, in the order of the items.
func upsert(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, items []EnqueueIn, rows []newJob) ([]Enqueued, error) {
	fresh, live, err := take(ctx, q, now, ownerID, firstOfKey(rows))
	if err != nil {
		return nil, err
	}
	out := make([]Enqueued, len(items))
	for i, row := range rows {
		if job, ok := fresh[row.ID]; ok {
			out[i] = Enqueued{Job: job}
		} else if out[i], err = duplicate(ctx, q, now, live[*row.Key], items[i]); err != nil {
			return nil, err
		}
		if row.Key != nil && out[i].Err == nil {
			live[*row.Key] = out[i].Job
		}
	}
	return out, nil
}

// take inserts the rows whose key is free, and locks the live jobs of the other
// keys: fresh by id, live by key. If one of those ends before it is locked, the
// transaction runs again: its row is locked all the same, and whoever holds rows
// takes no key.
func take(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, rows []newJob) (fresh, live map[string]model.Job, err error) {
	fresh, live = map[string]model.Job{}, map[string]model.Job{}
	if err := insert(ctx, q, now, ownerID, rows, fresh); err != nil {
		return nil, nil, err
	}
	met := slices.DeleteFunc(slices.Clone(rows), func(r newJob) bool { return has(fresh, r.ID) })
	if len(met) == 0 {
		return fresh, live, nil
	}
	if err := lockLive(ctx, q, ownerID, met, live); err != nil {
		return nil, nil, err
	}
	if len(live) < len(met) {
		return nil, nil, fmt.Errorf("a live job ended meanwhile: %w", store.ErrRerun)
	}
	return fresh, live, nil
}

func has(jobs map[string]model.Job, name string) bool {
	_, ok := jobs[name]
	return ok
}

// newJob is one element of JobInsertMany's @rows.
type newJob struct {
	ID             string  `json:"id"`
	Kind           string  `json:"kind"`
	Key            *string `json:"key"`
	RepoID         *string `json:"repo_id"`
	IssueNumber    *int64  `json:"issue_number"`
	Payload        string  `json:"payload"`
	Priority       int64   `json:"priority"`
	RunAt          int64   `json:"run_at"` // microseconds
	MaxAttempts    int64   `json:"max_attempts"`
	TimeoutSeconds *int64  `json:"timeout_seconds"`
	Follows        *string `json:"follows"`
	Traceparent    *string `json:"traceparent"`
}

// row is the item as a new job. Ids are made in the order of the items, so jobs
// of one instant are claimed in that order.
func (in EnqueueIn) row(now coltype.Time, kind model.JobKind, repo model.Repo) newJob {
	row := newJob{
		ID: id.New("job"), Kind: in.Kind, Key: in.key(repo), IssueNumber: in.IssueNumber,
		Payload: "{}", Priority: defaultPriority, RunAt: orNow(in.RunAt, now).UnixMicro(),
		MaxAttempts: kind.MaxAttempts, TimeoutSeconds: in.Timeout, Traceparent: in.Traceparent,
	}
	if in.Payload != nil {
		row.Payload = string(in.Payload)
	}
	if in.Priority != nil {
		row.Priority = *in.Priority
	}
	if in.MaxAttempts != nil {
		row.MaxAttempts = *in.MaxAttempts
	}
	if in.Repo != nil {
		row.RepoID = &repo.ID
	}
	return row
}

// firstOfKey leaves out later rows of a key, and sorts by key: transactions
// that enqueue the same keys take them in one order.
func firstOfKey(rows []newJob) []newJob {
	first := slices.Clone(rows)
	slices.SortStableFunc(first, func(a, b newJob) int { return cmp.Compare(deref(a.Key), deref(b.Key)) })
	return slices.CompactFunc(first, func(a, b newJob) bool { return a.Key != nil && b.Key != nil && *a.Key == *b.Key })
}

// insert enqueues the rows whose key is free, and puts the jobs into fresh by id.
func insert(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, rows []newJob, fresh map[string]model.Job) error {
	text, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	jobs, err := q.JobInsertMany(ctx, model.JobInsertManyParams{OwnerID: ownerID, Now: now, Rows: string(text)})
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	for _, job := range jobs {
		fresh[job.ID] = job
	}
	return nil
}

// lockLive locks the live jobs of the rows' keys, and puts them into live by
// key. One statement takes them in the order of ids, as a batch that ends claims
// does: neither waits for the other crosswise.
func lockLive(ctx context.Context, q model.Querier, ownerID string, rows []newJob, live map[string]model.Job) error {
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = *row.Key
	}
	text, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	jobs, err := q.JobLockByKeys(ctx, model.JobLockByKeysParams{OwnerID: ownerID, Keys: string(text)})
	if err != nil {
		return fmt.Errorf("lock live jobs: %w", err)
	}
	for _, job := range jobs {
		live[*job.Key] = job
	}
	return nil
}

// trackAll tracks the repositories of the items, each once and in one order.
// None of them is renamed before the transaction ends.
func trackAll(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, items []EnqueueIn) (map[repos.Ref]model.Repo, error) {
	tracked := map[repos.Ref]model.Repo{}
	var refs []repos.Ref
	for _, in := range items {
		if in.Repo == nil {
			continue
		}
		if _, ok := tracked[*in.Repo]; !ok {
			tracked[*in.Repo] = model.Repo{}
			refs = append(refs, *in.Repo)
		}
	}
	sort.Slice(refs, func(i, j int) bool { return refs[i].IssueKey(0) < refs[j].IssueKey(0) })
	for _, ref := range refs {
		repo, err := repos.TrackHeld(ctx, q, now, ownerID, ref)
		if err != nil {
			return nil, err
		}
		tracked[ref] = repo
	}
	return tracked, nil
}

// kindsOf are the kinds that the items name, each once.
func kindsOf(items []EnqueueIn) []string {
	seen := map[string]bool{}
	var names []string
	for _, in := range items {
		if !seen[in.Kind] {
			seen[in.Kind] = true
			names = append(names, in.Kind)
		}
	}
	sort.Strings(names)
	return names
}

package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/repos"
)

// EnqueueIn is one job to enqueue. A nil or zero member is absent: a new job
// takes the default, a duplicate leaves what it finds.
type EnqueueIn struct {
	Kind        string
	Key         *string
	Repo        *repos.Ref // normal; with IssueNumber it makes the key
	IssueNumber *int64
	Payload     coltype.JSON
	Priority    *int64
	RunAt       coltype.Time
	MaxAttempts *int64
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

// key is the key of the item: its issue's, its own, or none.
func (in EnqueueIn) key() *string {
	if in.Repo != nil && in.IssueNumber != nil {
		key := in.Repo.IssueKey(*in.IssueNumber)
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
		rows[i] = in.row(now, kinds[in.Kind], tracked)
	}
	return insertAll(ctx, q, now, ownerID, items, rows)
}

// insertAll inserts the first item of every key in one statement; whatever
// finds its key live then meets the live job, one by one: in the order of the
// keys, so that two batches never wait for each other, and within a key in the
// order of the items.
func insertAll(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, items []EnqueueIn, rows []newJob) ([]Enqueued, error) {
	fresh, err := insert(ctx, q, now, ownerID, firstOfKey(rows))
	if err != nil {
		return nil, err
	}
	out := make([]Enqueued, len(items))
	for _, i := range byKey(rows) {
		if job, ok := fresh[rows[i].ID]; ok {
			out[i] = Enqueued{Job: job}
			continue
		}
		if out[i], err = meet(ctx, q, now, ownerID, items[i], rows[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newJob is one element of JobInsertMany's @rows.
type newJob struct {
	ID          string  `json:"id"`
	Kind        string  `json:"kind"`
	Key         *string `json:"key"`
	RepoID      *string `json:"repo_id"`
	IssueNumber *int64  `json:"issue_number"`
	Payload     string  `json:"payload"`
	Priority    int64   `json:"priority"`
	RunAt       int64   `json:"run_at"` // microseconds
	MaxAttempts int64   `json:"max_attempts"`
	Follows     *string `json:"follows"`
	Traceparent *string `json:"traceparent"`
}

// row is the item as a new job. Ids are made in the order of the items, so jobs
// of one instant are claimed in that order.
func (in EnqueueIn) row(now coltype.Time, kind model.JobKind, tracked map[repos.Ref]string) newJob {
	row := newJob{
		ID: id.New("job"), Kind: in.Kind, Key: in.key(), IssueNumber: in.IssueNumber,
		Payload: "{}", Priority: DefaultPriority, RunAt: orNow(in.RunAt, now).UnixMicro(),
		MaxAttempts: kind.MaxAttempts, Traceparent: in.Traceparent,
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
		repoID := tracked[*in.Repo]
		row.RepoID = &repoID
	}
	return row
}

// firstOfKey leaves out later rows of a key, and sorts by key: transactions
// that enqueue the same keys take them in one order.
func firstOfKey(rows []newJob) []newJob {
	first := make([]newJob, 0, len(rows))
	for n, i := range byKey(rows) {
		row := rows[i]
		if n == 0 || row.Key == nil || deref(first[len(first)-1].Key) != *row.Key {
			first = append(first, row)
		}
	}
	return first
}

// byKey is the order in which the keys of rows are taken: that of the keys,
// those without one first, then that of the rows.
func byKey(rows []newJob) []int {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return deref(rows[order[a]].Key) < deref(rows[order[b]].Key) })
	return order
}

// insert enqueues the rows whose key is free, and returns the jobs by id.
func insert(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, rows []newJob) (map[string]model.Job, error) {
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	jobs, err := q.JobInsertMany(ctx, model.JobInsertManyParams{OwnerID: ownerID, Now: now, Rows: string(text)})
	if err != nil {
		return nil, fmt.Errorf("enqueue: %w", err)
	}
	byID := make(map[string]model.Job, len(jobs))
	for _, job := range jobs {
		byID[job.ID] = job
	}
	return byID, nil
}

// trackAll tracks the repositories of the items, each once and in one order,
// and returns their ids.
func trackAll(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, items []EnqueueIn) (map[repos.Ref]string, error) {
	ids := map[repos.Ref]string{}
	var refs []repos.Ref
	for _, in := range items {
		if in.Repo == nil {
			continue
		}
		if _, ok := ids[*in.Repo]; !ok {
			ids[*in.Repo] = ""
			refs = append(refs, *in.Repo)
		}
	}
	sort.Slice(refs, func(i, j int) bool { return refs[i].IssueKey(0) < refs[j].IssueKey(0) })
	for _, ref := range refs {
		repo, err := repos.Track(ctx, q, now, ownerID, ref)
		if err != nil {
			return nil, err
		}
		ids[ref] = repo.ID
	}
	return ids, nil
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

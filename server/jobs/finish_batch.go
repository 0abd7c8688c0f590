package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/store"
)

// Completion is one item of CompleteAll.
type Completion struct {
	ID         string
	LeaseToken string
	Result     coltype.JSON
	Warning    string // what the worker remarks; kept on the run
}

// Finished is what became of one item of CompleteAll.
type Finished struct {
	Outcome
	Fault *fault.Fault // of this item alone
}

// CompleteAll completes many claims of an owner in the transaction of q, and
// answers in the order of items, each as Finish would one after the other.
//
// One statement ends the claims that are nothing but that, and one their runs.
// It also locks the jobs of all other items, in the order of their ids, as
// everybody does who locks several: two batches never wait for each other
// crosswise. What it left (a successor was asked for, the lease is another one's,
// the job has ended or is not there, its id stands in the batch before) goes
// through Finish.
func CompleteAll(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, items []Completion) ([]Finished, error) {
	out := make([]Finished, len(items))
	order := inOrderOfIDs(items)
	done, err := completeOrdinary(ctx, q, now, ownerID, items, order)
	if err != nil {
		return nil, err
	}
	for _, i := range order {
		id := items[i].ID
		if outcome, ok := done[id]; ok {
			out[i].Outcome = outcome
			delete(done, id) // the next item of this id comes after its end
			continue
		}
		outcome, err := Finish(ctx, q, now, items[i].finish(ownerID))
		if err != nil && !errors.As(err, &out[i].Fault) {
			return nil, err
		}
		out[i].Outcome = outcome
	}
	return out, nil
}

// inOrderOfIDs are the places of the items, those of one id in the order given.
func inOrderOfIDs(items []Completion) []int {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return items[order[a]].ID < items[order[b]].ID })
	return order
}

// finish is the completion as a finish by itself.
func (c Completion) finish(ownerID string) FinishIn {
	return FinishIn{OwnerID: ownerID, ID: c.ID, LeaseToken: c.LeaseToken, Action: Complete, Result: c.Result, Warning: c.Warning}
}

// completionRow is one member of JobCompleteMany's @rows.
type completionRow struct {
	LeaseToken string  `json:"lease_token"`
	Result     *string `json:"result,omitempty"`
}

// completeOrdinary ends what one statement can end, and returns it by job id. Of
// the items of one id it tries the first.
func completeOrdinary(ctx context.Context, q model.Querier, now coltype.Time, ownerID string, items []Completion, order []int) (map[string]Outcome, error) {
	rows, warnings := map[string]completionRow{}, map[string]string{}
	for _, i := range order {
		item := items[i]
		if _, tried := rows[item.ID]; !tried {
			rows[item.ID] = completionRow{LeaseToken: item.LeaseToken, Result: textOf(item.Result)}
			warnings[item.ID] = item.Warning
		}
	}
	text, err := json.Marshal(rows) // sorts by id
	if err != nil {
		return nil, err
	}
	ended, err := q.JobCompleteMany(ctx, model.JobCompleteManyParams{OwnerID: ownerID, Now: now, Latest: now.Add(store.Apart), Rows: string(text)})
	if err != nil {
		return nil, fmt.Errorf("complete %d jobs: %w", len(rows), err)
	}
	return withRuns(ctx, q, ownerID, ended, warnings)
}

// withRuns ends the runs of jobs that were completed a statement ago.
func withRuns(ctx context.Context, q model.Querier, ownerID string, ended []model.Job, warnings map[string]string) (map[string]Outcome, error) {
	successes := make([]runs.Success, len(ended))
	for i, job := range ended {
		successes[i] = runs.Success{JobID: job.ID, Warning: warnings[job.ID], Progress: job.Progress, At: job.FinishedAt}
	}
	byJob, err := runs.Succeed(ctx, q, ownerID, successes)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Outcome, len(ended))
	for _, job := range ended {
		out[job.ID] = Outcome{Job: job, Run: byJob[job.ID]}
	}
	return out, nil
}

// textOf is a JSON value as a member that is text, which no engine rewrites.
func textOf(v coltype.JSON) *string {
	if v == nil {
		return nil
	}
	text := string(v)
	return &text
}

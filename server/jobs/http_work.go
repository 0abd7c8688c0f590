package jobs

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/web"
)

type heartbeatInput struct {
	ID   string `path:"id"`
	Body struct {
		LeaseToken   string       `json:"lease_token" maxLength:"128"`
		LeaseSeconds *int64       `json:"lease_seconds,omitempty" minimum:"10" maximum:"86400" doc:"From now. Absent: the kind's, unless the lease lasts longer as it is."`
		Progress     coltype.JSON `json:"progress,omitempty" maxBytes:"16384" doc:"Any JSON value up to 16 KiB; replaces the last. Absent: the last stays."`
	}
}

type heartbeatAnswer struct {
	LeaseExpiresAt coltype.Time `json:"lease_expires_at" doc:"Not beyond deadline_at."`
	DeadlineAt     coltype.Time `json:"deadline_at" nullable:"true" doc:"When the attempt must be over. Null: it has no time limit."`
	Now            coltype.Time `json:"now" doc:"The server's time of this heartbeat: deadline_at less now is left, whatever the worker's clock says."`
	Directive      string       `json:"directive" enum:"continue,cancel,drain" doc:"cancel: stop the work and report. drain: this replica is stopping; finish, and claim elsewhere."`
}

func (h *routes) heartbeat(ctx context.Context, q model.Querier, now coltype.Time, in *heartbeatInput) (web.Answer[heartbeatAnswer], error) {
	beat, err := Heartbeat(ctx, q, now, HeartbeatIn{
		OwnerID: web.Caller(ctx).OwnerID, ID: in.ID, LeaseToken: in.Body.LeaseToken,
		LeaseSeconds: in.Body.LeaseSeconds, Progress: in.Body.Progress,
	})
	if err != nil {
		return web.Answer[heartbeatAnswer]{}, err
	}
	if beat.Directive == directiveContinue && h.draining() {
		beat.Directive = directiveDrain
	}
	return web.Answer[heartbeatAnswer]{
		Body: heartbeatAnswer{
			LeaseExpiresAt: beat.LeaseExpiresAt, DeadlineAt: beat.DeadlineAt, Now: now, Directive: beat.Directive,
		},
		After: func() { h.workers.Note(web.Caller(ctx).OwnerID, beat.Worker, now) },
		Check: in.stillHeld,
	}, nil
}

// stillHeld refuses an answer that a slow commit made late: a lease that has
// ended is not reported as held.
func (in *heartbeatInput) stillHeld(now coltype.Time, body *heartbeatAnswer) (changed bool, err error) {
	if !body.LeaseExpiresAt.After(now) {
		return false, fault.LeaseLost(in.ID, Claimed)
	}
	return false, nil
}

// Remark is a part of the body of every finish. It is exported because huma leaves
// out what an unexported embedded struct holds.
type Remark struct {
	Warning web.CleanText `json:"warning,omitempty" maxBytes:"4096" doc:"A remark for people, kept on the run. Cut at 4 KiB."`
}

type completeInput struct {
	ID   string `path:"id"`
	Body struct {
		LeaseToken string       `json:"lease_token" maxLength:"128"`
		Result     coltype.JSON `json:"result,omitempty" maxBytes:"262144" doc:"Any JSON value up to 256 KiB."`
		Remark
	}
}

func (h *routes) complete(ctx context.Context, q model.Querier, now coltype.Time, in *completeInput) (web.Answer[finishedJSON], error) {
	return h.finish(ctx, q, now, FinishIn{ID: in.ID, LeaseToken: in.Body.LeaseToken, Action: Complete, Result: in.Body.Result, Warning: string(in.Body.Warning)})
}

// errorBody says why an attempt failed.
type errorBody struct {
	Code    string        `json:"code" minLength:"1" maxLength:"64"`
	Message web.CleanText `json:"message" maxBytes:"4096" doc:"Cut at 4 KiB."`
}

type failInput struct {
	ID   string `path:"id"`
	Body struct {
		LeaseToken        string    `json:"lease_token" maxLength:"128"`
		Error             errorBody `json:"error"`
		Retryable         *bool     `json:"retryable,omitempty" doc:"false ends the job, whatever attempts are left. Absent: true."`
		RetryAfterSeconds *int64    `json:"retry_after_seconds,omitempty" minimum:"0" maximum:"2592000" doc:"Instead of the kind's backoff."`
		Remark
	}
}

func (h *routes) fail(ctx context.Context, q model.Querier, now coltype.Time, in *failInput) (web.Answer[finishedJSON], error) {
	text, err := encode(in.Body.Error)
	if err != nil {
		return web.Answer[finishedJSON]{}, err
	}
	return h.finish(ctx, q, now, FinishIn{
		ID: in.ID, LeaseToken: in.Body.LeaseToken, Action: Fail, Error: text, Warning: string(in.Body.Warning),
		Retryable:  in.Body.Retryable == nil || *in.Body.Retryable,
		RetryAfter: in.Body.RetryAfterSeconds, Jitter: Jitter(),
	})
}

type snoozeInput struct {
	ID   string `path:"id"`
	Body struct {
		LeaseToken string `json:"lease_token" maxLength:"128"`
		Seconds    int64  `json:"seconds" minimum:"0" maximum:"2592000" doc:"Until it may be claimed again; the attempt does not count."`
		Remark
	}
}

func (h *routes) snooze(ctx context.Context, q model.Querier, now coltype.Time, in *snoozeInput) (web.Answer[finishedJSON], error) {
	return h.finish(ctx, q, now, FinishIn{ID: in.ID, LeaseToken: in.Body.LeaseToken, Action: Snooze, Seconds: in.Body.Seconds, Warning: string(in.Body.Warning)})
}

type releaseInput struct {
	ID   string `path:"id"`
	Body struct {
		LeaseToken string `json:"lease_token" maxLength:"128"`
		Remark
	}
}

func (h *routes) release(ctx context.Context, q model.Querier, now coltype.Time, in *releaseInput) (web.Answer[finishedJSON], error) {
	return h.finish(ctx, q, now, FinishIn{ID: in.ID, LeaseToken: in.Body.LeaseToken, Action: Release, Warning: string(in.Body.Warning)})
}

// finish ends a claim for the caller, and wakes who waits for what that frees.
func (h *routes) finish(ctx context.Context, q model.Querier, now coltype.Time, in FinishIn) (web.Answer[finishedJSON], error) {
	in.OwnerID = web.Caller(ctx).OwnerID
	out, err := Finish(ctx, q, now, in)
	if err != nil {
		return web.Answer[finishedJSON]{}, err
	}
	return web.Answer[finishedJSON]{
		Body: finishedOf(out),
		After: func() {
			h.hub.WakeFor(out.Job)
			h.noteRun(out.Run, now)
		},
	}, nil
}

// completeBatchInput ends many claims at once.
type completeBatchInput struct {
	Body struct {
		Items []completeItem `json:"items" minItems:"1" maxItems:"1000" doc:"Each id once. All in one transaction."`
	}
}

type completeItem struct {
	ID         string       `json:"id"`
	LeaseToken string       `json:"lease_token" maxLength:"128"`
	Result     coltype.JSON `json:"result,omitempty" maxBytes:"262144" doc:"Any JSON value up to 256 KiB."`
	Remark
}

// Faults are ids that stand in the batch before.
func (in *completeBatchInput) Faults() (faults []fault.Item) {
	seen := map[string]bool{}
	for i, item := range in.Body.Items {
		if seen[item.ID] {
			faults = append(faults, fault.Item{Pointer: fmt.Sprintf("/items/%d/id", i), Detail: "the id stands in the batch before"})
		}
		seen[item.ID] = true
	}
	return faults
}

// completeResult is what became of one item.
type completeResult struct {
	Status int `json:"status" doc:"200, or the problem's."`
	*finishedJSON
	Problem *web.Problem `json:"problem,omitempty" doc:"Instead of job and run, when the item alone was refused."`
}

type completeBatchAnswer struct {
	Results []completeResult `json:"results" doc:"In the order of items."`
}

func (h *routes) completeBatch(ctx context.Context, q model.Querier, now coltype.Time, in *completeBatchInput) (web.Answer[completeBatchAnswer], error) {
	owner := web.Caller(ctx).OwnerID
	items := make([]Completion, len(in.Body.Items))
	for i, item := range in.Body.Items {
		items[i] = Completion{ID: item.ID, LeaseToken: item.LeaseToken, Result: item.Result, Warning: string(item.Warning)}
	}
	out, err := CompleteAll(ctx, q, now, owner, items)
	if err != nil {
		return web.Answer[completeBatchAnswer]{}, err
	}
	results := make([]completeResult, len(out))
	for i, o := range out {
		results[i] = completeResultOf(ctx, o)
	}
	return web.Answer[completeBatchAnswer]{
		Body: completeBatchAnswer{Results: results},
		After: func() {
			for _, o := range out {
				h.hub.WakeFor(o.Job)
				h.noteRun(o.Run, now)
			}
		},
	}, nil
}

// noteRun notes the worker that ended a run.
func (h *routes) noteRun(run runs.Run, now coltype.Time) {
	if run.Worker != nil {
		h.workers.Note(run.OwnerID, *run.Worker, now)
	}
}

func completeResultOf(ctx context.Context, o Finished) completeResult {
	if o.Fault != nil {
		return completeResult{Status: o.Fault.Status, Problem: web.ProblemOf(ctx, o.Fault)}
	}
	body := finishedOf(o.Outcome)
	return completeResult{Status: 200, finishedJSON: &body}
}

package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/repos"
	"github.com/stint-run/stint/server/web"
)

// repoBody names the repository that a job is about.
type repoBody struct {
	Forge     string `json:"forge" enum:"github,gitea,forgejo,gitlab"`
	Host      string `json:"host,omitempty" minLength:"1" doc:"Default github.com and gitlab.com; required for gitea and forgejo. Case does not count, nor does a port 443, 80 or 22."`
	Namespace string `json:"namespace" minLength:"1" doc:"The forge's owner or group. Case does not count."`
	Name      string `json:"name" minLength:"1" doc:"Case does not count."`
}

// enqueueBody is one job to enqueue.
type enqueueBody struct {
	Kind        kindText     `json:"kind" doc:"Registered by its first enqueue."`
	Key         *string      `json:"key,omitempty" minLength:"1" maxLength:"512" doc:"At most one live job per key."`
	Repo        *repoBody    `json:"repo,omitempty" doc:"Tracked if it is unknown."`
	IssueNumber *int64       `json:"issue_number,omitempty" minimum:"1" doc:"With repo: makes the key, so that an issue has at most one live job."`
	Payload     coltype.JSON `json:"payload,omitempty" maxBytes:"262144" doc:"Any JSON value up to 256 KiB, handed to the worker as it is. Absent: {}."`
	Priority    *int64       `json:"priority,omitempty" minimum:"1" maximum:"4" doc:"1 is the most urgent. Absent: 3."`
	RunAt       coltype.Time `json:"run_at,omitempty" doc:"Not claimed before; the past is now. Absent: now."`
	MaxAttempts *int64       `json:"max_attempts,omitempty" minimum:"1" maximum:"100" doc:"Absent: the kind's."`
	Timeout     *int64       `json:"timeout_seconds,omitempty" minimum:"1" maximum:"604800" doc:"How long an attempt may take from its claim; the smallest of the job's, the kind's and the claim's counts. Absent: the job sets none."`
	OnDuplicate string       `json:"on_duplicate,omitempty" enum:"replace,keep" doc:"What becomes of a live job of the key. replace (default): a pending job takes the members that are present, a claimed one runs again afterwards. keep: nothing changes."`
}

type enqueueInput struct {
	Traceparent string `header:"Traceparent" doc:"W3C trace context, kept on the job and handed to the worker."`
	Body        enqueueBody
}

// enqueuedJSON answers an enqueue.
type enqueuedJSON struct {
	Job          jobJSON `json:"job"`
	Deduplicated bool    `json:"deduplicated" doc:"The key was live: job is the live job."`
	Again        bool    `json:"again" doc:"The request was kept, to run after the claimed job."`
}

type enqueueBatchInput struct {
	Traceparent string `header:"Traceparent" doc:"W3C trace context, kept on the jobs and handed to the worker."`
	Body        struct {
		Items []enqueueBody `json:"items" minItems:"1" maxItems:"1000" doc:"Enqueued in order, in one transaction."`
	}
}

// enqueueResult is what became of one item of a batch.
type enqueueResult struct {
	Status int `json:"status" doc:"201 new, 200 deduplicated, or the problem's."`
	*enqueuedJSON
	Problem *web.Problem `json:"problem,omitempty" doc:"Instead of job, when the item alone was refused."`
}

type enqueueBatchAnswer struct {
	Results []enqueueResult `json:"results" doc:"In the order of items."`
}

func (h *routes) enqueue(ctx context.Context, q model.Querier, now coltype.Time, in *enqueueInput) (web.Answer[enqueuedJSON], error) {
	item := in.Body.item(in.Traceparent)
	owner := web.Caller(ctx).OwnerID
	out, err := Enqueue(ctx, q, now, owner, []EnqueueIn{item})
	if err == nil {
		err = out[0].Err
	}
	if err != nil {
		return web.Answer[enqueuedJSON]{}, err
	}
	return web.Answer[enqueuedJSON]{
		Status: out[0].status(), Body: *enqueuedOf(out[0]),
		After: func() { h.hub.WakeFor(out[0].Job) },
	}, nil
}

func (h *routes) enqueueBatch(ctx context.Context, q model.Querier, now coltype.Time, in *enqueueBatchInput) (web.Answer[enqueueBatchAnswer], error) {
	items := make([]EnqueueIn, len(in.Body.Items))
	for i, body := range in.Body.Items {
		items[i] = body.item(in.Traceparent)
	}
	owner := web.Caller(ctx).OwnerID
	out, err := Enqueue(ctx, q, now, owner, items)
	if err != nil {
		return web.Answer[enqueueBatchAnswer]{}, err
	}
	results := make([]enqueueResult, len(out))
	for i, e := range out {
		results[i] = e.result(ctx)
	}
	return web.Answer[enqueueBatchAnswer]{
		Body:  enqueueBatchAnswer{Results: results},
		After: func() { h.hub.WakeFor(jobsOf(out)...) },
	}, nil
}

func jobsOf(out []Enqueued) []model.Job {
	return keyset.Convert(out, func(e Enqueued) model.Job { return e.Job })
}

// status is 201 for a new job, 200 for a live one.
func (e Enqueued) status() int {
	if e.Deduplicated {
		return http.StatusOK
	}
	return http.StatusCreated
}

func enqueuedOf(e Enqueued) *enqueuedJSON {
	return &enqueuedJSON{Job: jobOf(e.Job), Deduplicated: e.Deduplicated, Again: e.Again}
}

func (e Enqueued) result(ctx context.Context) enqueueResult {
	var f *fault.Fault
	if errors.As(e.Err, &f) {
		return enqueueResult{Status: f.Status, Problem: web.ProblemOf(ctx, f)}
	}
	return enqueueResult{Status: e.status(), enqueuedJSON: enqueuedOf(e)}
}

// ref is the repository as Track takes it, if it has no faults.
func (b repoBody) ref() (repos.Ref, []fault.Item) {
	return repos.Ref{Forge: b.Forge, Host: b.Host, Namespace: b.Namespace, Name: b.Name}.Normal()
}

// item is the body as Enqueue takes it.
func (b enqueueBody) item(traceparent string) EnqueueIn {
	in := EnqueueIn{
		Kind: string(b.Kind), Key: b.Key, IssueNumber: b.IssueNumber, Payload: b.Payload, Priority: b.Priority,
		RunAt: b.RunAt, MaxAttempts: b.MaxAttempts, Timeout: b.Timeout, Traceparent: traceOf(traceparent), Keep: b.OnDuplicate == "keep",
	}
	if b.Repo != nil {
		ref, _ := b.Repo.ref()
		in.Repo = &ref
	}
	return in
}

// Faults are those of the item's members together.
func (in *enqueueInput) Faults() []fault.Item { return in.Body.faults("") }

// Faults are those of all items.
func (in *enqueueBatchInput) Faults() (faults []fault.Item) {
	for i, body := range in.Body.Items {
		faults = append(faults, body.faults(fmt.Sprintf("/items/%d", i))...)
	}
	return faults
}

// faults are the rules of key, issue_number and repo together; pointer leads to
// the body.
func (b enqueueBody) faults(pointer string) []fault.Item {
	var faults []fault.Item
	wrong := func(member, detail string) {
		faults = append(faults, fault.Item{Pointer: pointer + member, Detail: detail})
	}
	if b.Key != nil && strings.HasPrefix(*b.Key, "issue:") {
		wrong("/key", "keys that begin with issue: are made from repo and issue_number")
	}
	if b.Key != nil && b.IssueNumber != nil {
		wrong("/key", "issue_number makes the key; send one of the two")
	}
	if b.IssueNumber != nil && b.Repo == nil {
		wrong("/issue_number", "an issue needs its repo")
	}
	if b.Repo != nil {
		_, items := b.Repo.ref()
		for _, item := range items {
			wrong("/repo"+item.Pointer, item.Detail)
		}
	}
	return faults
}

var traceparents = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// traceOf is a valid trace context; an invalid one is ignored, as the standard
// has it.
func traceOf(header string) *string {
	if !traceparents.MatchString(header) || slices.Contains(strings.Split(header, "-")[1:3], strings.Repeat("0", 32)) {
		return nil
	}
	return &header
}

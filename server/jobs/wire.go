package jobs

import (
	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/runs"
	"github.com/stint-run/stint/server/web"
)

// jobJSON is a job as clients see it. The lease token is not a part of it: only
// the claim that made the lease answers with it.
type jobJSON struct {
	ID                string       `json:"id"`
	Kind              string       `json:"kind"`
	State             string       `json:"state" enum:"pending,claimed,succeeded,failed,cancelled"`
	WaitingFor        *string      `json:"waiting_for" enum:"slot,dependency,connection" nullable:"true"`
	Key               *string      `json:"key" nullable:"true"`
	RepoID            *string      `json:"repo_id" nullable:"true"`
	IssueNumber       *int64       `json:"issue_number" nullable:"true"`
	Payload           coltype.JSON `json:"payload,omitempty" doc:"As it was sent. Absent when omitted names it."`
	Priority          int64        `json:"priority" doc:"1 is the most urgent, 4 the least."`
	RunAt             coltype.Time `json:"run_at" doc:"Not claimed before."`
	Attempt           int64        `json:"attempt" doc:"Claims that count so far."`
	MaxAttempts       int64        `json:"max_attempts"`
	TimeoutSeconds    *int64       `json:"timeout_seconds" nullable:"true" doc:"How long an attempt may take from its claim; a shorter limit of the kind or the claim counts instead. Null: the job sets none."`
	ClaimedBy         *string      `json:"claimed_by" nullable:"true"`
	LeaseExpiresAt    coltype.Time `json:"lease_expires_at" nullable:"true"`
	Again             coltype.JSON `json:"again,omitempty" doc:"What a duplicate asked for while the job was claimed; it runs afterwards, unless the job ends cancelled. Absent when omitted names it."`
	Follows           *string      `json:"follows" nullable:"true"`
	FollowedBy        *string      `json:"followed_by" nullable:"true"`
	CancelRequestedAt coltype.Time `json:"cancel_requested_at" nullable:"true"`
	Progress          coltype.JSON `json:"progress" doc:"The last that a heartbeat told."`
	Result            coltype.JSON `json:"result,omitempty" doc:"Of a success. Absent when omitted names it."`
	Error             coltype.JSON `json:"error,omitempty" doc:"Of the last failure. Absent when omitted names it."`
	Traceparent       *string      `json:"traceparent" nullable:"true"`
	Actor             *string      `json:"actor" nullable:"true" doc:"The token that last cancelled or retried it by hand."`
	ActedAt           coltype.Time `json:"acted_at" nullable:"true"`
	CreatedAt         coltype.Time `json:"created_at"`
	UpdatedAt         coltype.Time `json:"updated_at"`
	FinishedAt        coltype.Time `json:"finished_at" nullable:"true"`
	Omitted           []string     `json:"omitted" doc:"Members over 4 KiB that a list leaves out."`
}

func jobOf(j model.Job) jobJSON {
	return jobJSON{
		ID: j.ID, Kind: j.Kind, State: j.State, WaitingFor: j.WaitingFor, Key: j.Key,
		RepoID: j.RepoID, IssueNumber: j.IssueNumber, Payload: orNull(j.Payload), Priority: j.Priority,
		RunAt: j.RunAt, Attempt: j.Attempt, MaxAttempts: j.MaxAttempts, TimeoutSeconds: j.TimeoutSeconds, ClaimedBy: j.ClaimedBy,
		LeaseExpiresAt: j.LeaseExpiresAt, Again: orNull(j.Again), Follows: j.Follows, FollowedBy: j.FollowedBy,
		CancelRequestedAt: j.CancelRequestedAt, Progress: j.Progress, Result: orNull(j.Result),
		Error: orNull(j.Error), Traceparent: j.Traceparent, Actor: j.Actor, ActedAt: j.ActedAt,
		CreatedAt: j.CreatedAt, UpdatedAt: j.UpdatedAt, FinishedAt: j.FinishedAt, Omitted: []string{},
	}
}

// orNull keeps a member that is unset from being taken for one that is omitted.
func orNull(v coltype.JSON) coltype.JSON {
	if v == nil {
		return coltype.JSON("null")
	}
	return v
}

// listedOf is a job within a list: large members are left out and named.
func listedOf(j model.Job, _ coltype.Time) jobJSON {
	out := jobOf(j)
	out.Omitted = web.Omit(web.JSONMember("payload", &out.Payload), web.JSONMember("result", &out.Result),
		web.JSONMember("error", &out.Error), web.JSONMember("again", &out.Again))
	return out
}

// claimedJSON is a job in the hands of the worker that claimed it.
type claimedJSON struct {
	jobJSON
	LeaseToken string       `json:"lease_token" doc:"Proves the lease; needed by heartbeat, complete, fail, snooze, release."`
	RunID      string       `json:"run_id" doc:"The run of this attempt."`
	DeadlineAt coltype.Time `json:"deadline_at" nullable:"true" doc:"When the attempt must be over; no lease reaches beyond it. Null: it has no time limit."`
}

func claimedOf(c ClaimedJob) claimedJSON {
	return claimedJSON{jobJSON: jobOf(c.Job), LeaseToken: deref(c.Job.LeaseToken), RunID: c.RunID, DeadlineAt: c.DeadlineAt}
}

// endedJSON is the run of the attempt that an action ended.
type endedJSON struct {
	ID             string  `json:"id"`
	Status         string  `json:"status"`
	Attempt        *int64  `json:"attempt" nullable:"true"`
	TerminalReason *string `json:"terminal_reason" nullable:"true"`
}

// finishedJSON answers the actions that end a claim.
type finishedJSON struct {
	Job jobJSON   `json:"job"`
	Run endedJSON `json:"run"`
}

func finishedOf(o Outcome) finishedJSON {
	return finishedJSON{Job: jobOf(o.Job), Run: endedOf(o.Run)}
}

func endedOf(r runs.Run) endedJSON {
	return endedJSON{ID: r.ID, Status: r.Status, Attempt: r.Attempt, TerminalReason: r.TerminalReason}
}

// kindJSON is a kind as clients see it.
type kindJSON struct {
	Name               string       `json:"name"`
	LeaseSeconds       int64        `json:"lease_seconds"`
	MaxAttempts        int64        `json:"max_attempts"`
	BackoffBaseSeconds int64        `json:"backoff_base_seconds"`
	BackoffCapSeconds  int64        `json:"backoff_cap_seconds"`
	TimeoutSeconds     *int64       `json:"timeout_seconds" nullable:"true" doc:"How long an attempt may take from its claim. Null: the kind sets no limit."`
	Paused             bool         `json:"paused"`
	PausedAt           coltype.Time `json:"paused_at" nullable:"true"`
	PausedBy           *string      `json:"paused_by" nullable:"true"`
	Version            int64        `json:"version"`
	CreatedAt          coltype.Time `json:"created_at"`
	UpdatedAt          coltype.Time `json:"updated_at"`
}

func kindOf(k model.JobKind) kindJSON {
	return kindJSON{
		Name: k.Name, LeaseSeconds: k.LeaseSeconds, MaxAttempts: k.MaxAttempts,
		BackoffBaseSeconds: k.BackoffBaseSeconds, BackoffCapSeconds: k.BackoffCapSeconds,
		TimeoutSeconds: k.TimeoutSeconds,
		Paused:         !k.PausedAt.IsZero(), PausedAt: k.PausedAt, PausedBy: k.PausedBy,
		Version: k.Version, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
	}
}

package jobs

import (
	"context"
	"net/http"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

func (k kindJSON) ETag() string { return web.ETag(k.Version) }

// listedKinds is an owner's kinds, by name.
var listedKinds = web.ListOf[web.PageQuery, model.JobKind, kindJSON]{
	Kind: "kinds", Order: web.Oldest,
	Page: web.PageOf(kinds, func(ownerID string, _ *web.PageQuery) string { return ownerID }),
	Item: func(k model.JobKind, _ coltype.Time) kindJSON { return kindOf(k) },
}

var kinds = keyset.Plain("kinds",
	func(k model.JobKind) keyset.Position { return keyset.Position{At: k.CreatedAt, ID: k.Name} },
	func(ownerID string, from keyset.Position, max int64) model.KindPageParams {
		return model.KindPageParams{OwnerID: ownerID, AfterName: from.ID, Max: max}
	}, model.Reader.KindPage)

type kindName struct {
	Name string `path:"name"`
}

func (h *routes) kind(ctx context.Context, q model.Reader, _ coltype.Time, in *kindName) (*kindJSON, error) {
	kind, err := GetKind(ctx, q, web.Caller(ctx).OwnerID, in.Name)
	if err != nil {
		return nil, err
	}
	out := kindOf(kind)
	return &out, nil
}

type putKindInput struct {
	web.IfMatch
	Name string `path:"name"`
	Body struct {
		LeaseSeconds       int64          `json:"lease_seconds" minimum:"10" maximum:"86400"`
		MaxAttempts        int64          `json:"max_attempts" minimum:"1" maximum:"100"`
		BackoffBaseSeconds int64          `json:"backoff_base_seconds" minimum:"1" maximum:"2592000" doc:"Wait before the second attempt; doubles from attempt to attempt."`
		BackoffCapSeconds  int64          `json:"backoff_cap_seconds" minimum:"1" maximum:"2592000" doc:"The longest wait; not below the base."`
		Timeout            timeoutSetting `json:"timeout_seconds,omitempty" minimum:"1" maximum:"604800" doc:"How long an attempt may take from its claim; counts from the next claim on. Null: no limit. Absent: the present one stays."`
	}
}

// Faults are a cap below the base.
func (in *putKindInput) Faults() []fault.Item {
	if in.Body.BackoffCapSeconds >= in.Body.BackoffBaseSeconds {
		return nil
	}
	return []fault.Item{{Pointer: "/backoff_cap_seconds", Detail: "expected at least backoff_base_seconds"}}
}

// match takes a known kind's version that If-Match names, and an unknown kind
// (0) without If-Match: nothing, not even *, names what does not exist.
func (in *putKindInput) match(version int64) error {
	switch {
	case version > 0:
		return in.Require(version)
	case in.IfMatch.IfMatch != "":
		return fault.PreconditionFailed()
	}
	return nil
}

// kindAnswer is a kind after a change.
type kindAnswer struct {
	Kind kindJSON `json:"kind"`
}

func (h *routes) putKind(ctx context.Context, q model.Querier, now coltype.Time, in *putKindInput) (web.Answer[kindAnswer], error) {
	if !kindNames.MatchString(in.Name) {
		return web.Answer[kindAnswer]{}, fault.NotFound()
	}
	kind, created, err := PutKind(ctx, q, now, KindIn{
		OwnerID: web.Caller(ctx).OwnerID, Name: in.Name,
		LeaseSeconds: in.Body.LeaseSeconds, MaxAttempts: in.Body.MaxAttempts,
		BackoffBaseSeconds: in.Body.BackoffBaseSeconds, BackoffCapSeconds: in.Body.BackoffCapSeconds,
		Timeout: in.Body.Timeout.seconds, KeepTimeout: !in.Body.Timeout.given,
	}, in.match)
	if err != nil {
		return web.Answer[kindAnswer]{}, err
	}
	out := kindAnswered(kind)
	if created {
		out.Status = http.StatusCreated
	}
	return out, nil
}

func (h *routes) pauseKind(ctx context.Context, q model.Querier, now coltype.Time, in *kindName) (web.Answer[kindAnswer], error) {
	caller := web.Caller(ctx)
	kind, err := Pause(ctx, q, now, caller.OwnerID, in.Name, caller.TokenName)
	return kindAnswered(kind), err
}

func (h *routes) resumeKind(ctx context.Context, q model.Querier, now coltype.Time, in *kindName) (web.Answer[kindAnswer], error) {
	caller := web.Caller(ctx)
	kind, err := Resume(ctx, q, now, caller.OwnerID, in.Name)
	out := kindAnswered(kind)
	out.After = func() { h.hub.Wake(caller.OwnerID, in.Name) }
	return out, err
}

func kindAnswered(k model.JobKind) web.Answer[kindAnswer] {
	return web.Answer[kindAnswer]{Body: kindAnswer{Kind: kindOf(k)}, ETag: web.ETag(k.Version)}
}

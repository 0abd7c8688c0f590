package jobs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

// pollEvery is how long to wait before looking for work again: a waiting claim does
// so by itself, a client is told so in poll_after_ms.
const pollEvery = time.Second

type claimInput struct {
	Body struct {
		Worker       string     `json:"worker" minLength:"1" maxLength:"128" pattern:"^[!-~]([ -~]*[!-~])?$" patternDescription:"printable ASCII, no space at either end" doc:"Who works; shown to people, and kept with the run."`
		Kinds        []kindText `json:"kinds" minItems:"1" maxItems:"32" uniqueItems:"true" doc:"Kinds of job to take."`
		Limit        int64      `json:"limit,omitempty" minimum:"1" maximum:"100" default:"1" doc:"How many jobs at most. Fewer come when more would make the answer larger than 512 KiB."`
		LeaseSeconds *int64     `json:"lease_seconds,omitempty" minimum:"10" maximum:"86400" doc:"Absent: each kind's own."`
		Timeout      *int64     `json:"timeout_seconds,omitempty" minimum:"1" maximum:"604800" doc:"How long an attempt may take; the smallest of the claim's, the kind's and the job's counts. Absent: the claim sets none."`
		WaitSeconds  int64      `json:"wait_seconds,omitempty" minimum:"0" maximum:"30" default:"0" doc:"How long to wait for work while there is none."`
	}
	turn  uint64 // of the look that comes next
	start Start  // and where it begins
	most  int64  // jobs that it may take
	cut   bool   // by what an answer holds
	wait  *waiter
}

// kinds are the names asked for.
func (in *claimInput) kinds() []string {
	return keyset.Convert(in.Body.Kinds, func(k kindText) string { return string(k) })
}

type claimAnswer struct {
	Jobs        []claimedJSON `json:"jobs" doc:"Empty when nothing is due."`
	PollAfterMS int64         `json:"poll_after_ms" doc:"When to ask again, in milliseconds."`
}

// waiter is the waiting of one claim.
type waiter struct {
	until  coltype.Time
	wake   <-chan struct{}
	waited bool // looked once, and in vain
}

func (h *routes) claim(ctx context.Context, q model.Querier, now coltype.Time, in *claimInput) (web.Answer[claimAnswer], error) {
	if h.draining() {
		return refused(in)
	}
	claimed, err := Claim(ctx, q, now, ClaimIn{
		OwnerID: web.Caller(ctx).OwnerID, Worker: in.Body.Worker, Kinds: in.kinds(),
		Limit: in.most, LeaseSeconds: in.Body.LeaseSeconds, Timeout: in.Body.Timeout, Turn: in.turn, Start: in.start,
	})
	if err != nil {
		return web.Answer[claimAnswer]{}, h.smaller(in, web.Caller(ctx).OwnerID, err)
	}
	out := claimAnswer{Jobs: keyset.Convert(claimed.Jobs, claimedOf)}
	if len(out.Jobs) == 0 {
		out.PollAfterMS = pollEvery.Milliseconds()
	}
	return web.Answer[claimAnswer]{
		Body: out,
		After: func() {
			h.floors.Note(claimed)
			h.fits.Note(claimed)
			if in.cut { // who looked meanwhile found the jobs locked
				h.hub.Wake(web.Caller(ctx).OwnerID, in.kinds()...)
			}
			h.workers.Note(web.Caller(ctx).OwnerID, in.Body.Worker, now)
		},
		Check: stillHeld,
	}, nil
}

// smaller makes a claim whose jobs do not fit into an answer take fewer of them
// when its transaction runs again. The second time it takes one job, which always
// fits: others may have claimed meanwhile.
func (h *routes) smaller(in *claimInput, owner string, err error) error {
	much, ok := errors.AsType[*tooMuch](err)
	if !ok {
		return err
	}
	if in.most = much.fits; in.cut {
		in.most = 1
	}
	in.cut = true
	h.fits.Full(owner, in.kinds(), in.most)
	return err
}

// refused answers a claim of a stopping replica: one that waited ends empty, a
// new one is for another replica.
func refused(in *claimInput) (web.Answer[claimAnswer], error) {
	if in.wait == nil || !in.wait.waited {
		return web.Answer[claimAnswer]{}, fault.Draining()
	}
	return web.Answer[claimAnswer]{Body: claimAnswer{Jobs: []claimedJSON{}, PollAfterMS: pollEvery.Milliseconds()}}, nil
}

// stillHeld leaves out what a slow commit let run out: a lease that has ended
// is not reported as held.
func stillHeld(now coltype.Time, body *claimAnswer) (changed bool, err error) {
	all := len(body.Jobs)
	body.Jobs = slices.DeleteFunc(body.Jobs, func(j claimedJSON) bool { return !j.LeaseExpiresAt.After(now) })
	return len(body.Jobs) < all, nil
}

// claimHooks let a claim wait for work without a transaction or a connection.
func (h *routes) claimHooks() web.Hooks[claimInput, claimAnswer] {
	return web.Hooks[claimInput, claimAnswer]{
		Before: h.before,
		Keep:   func(body *claimAnswer) bool { return len(body.Jobs) > 0 },
		Again:  h.await,
	}
}

// before takes the turn of a look and where it begins, and begins the waiting
// before the first one, so that no wake-up between the look and the wait is missed.
func (h *routes) before(ctx context.Context, in *claimInput) error {
	now, err := h.store.Time(ctx)
	if err != nil {
		return err
	}
	owner, kinds := web.Caller(ctx).OwnerID, in.kinds()
	in.turn, in.start = h.turn.Add(1), h.floors.Start(now, owner, kinds)
	in.most, in.cut = h.fits.Limit(owner, kinds, max(in.Body.Limit, 1)), false
	if in.Body.WaitSeconds == 0 || in.wait != nil {
		return nil
	}
	wake, stop := h.hub.Listen(owner, kinds)
	context.AfterFunc(ctx, stop)
	in.wait = &waiter{until: now.Add(seconds(in.Body.WaitSeconds)), wake: wake}
	return nil
}

// await returns true when it is worth looking again, and false when the time is
// up, the client is gone, or this replica is stopping.
func (h *routes) await(ctx context.Context, in *claimInput) bool {
	if in.wait == nil {
		return false
	}
	in.wait.waited = true
	left := in.wait.until.Sub(h.store.Now())
	if left <= 0 {
		return false
	}
	timer := time.NewTimer(min(left, h.hub.PollEvery))
	defer timer.Stop()
	select {
	case <-in.wait.wake:
	case <-timer.C:
	case <-ctx.Done():
		return false
	case <-h.stopping:
		return false
	}
	return true
}

package work

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/boottime"
	"github.com/stint-run/stint/gen/client"
)

const (
	// longPoll is how long a claim waits at the server for work.
	longPoll = 20 * time.Second
	maxClaim = 100 // jobs in one claim
	// lastClaim is how long a worker that stops waits for what it may have
	// claimed. The server looks at once and again each second.
	lastClaim = 1500 * time.Millisecond
	// lastTokens is how many leases a worker remembers.
	lastTokens = 1000
	// timeoutsAgain is how soon a server that knew no time limits is asked again.
	timeoutsAgain = time.Minute
	// noPause is the pause after an empty answer that names none: something on the
	// way to the server has made it.
	noPause = time.Second
)

// claimAll claims while there is a free slot, until it is told to stop or has
// no reason to go on.
func (w *worker) claimAll(ctx context.Context) error {
	c := claims{worker: w, idleSince: time.Now()}
	defer c.giveBack()
	for ctx.Err() == nil {
		free, done := w.freeSlots(ctx, &c)
		if done || !w.serverTakesClaims(ctx) {
			return nil
		}
		jobs, err := c.next(ctx, free)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			w.slots <- struct{}{}
			w.jobs.Go(func() {
				defer func() { <-w.slots }()
				w.work(ctx, job)
			})
		}
	}
	return nil
}

// freeSlots waits for a free slot and tells how many there are; done means that
// enough jobs were claimed.
func (w *worker) freeSlots(ctx context.Context, c *claims) (free int, done bool) {
	if w.MaxJobs > 0 && c.claimed >= w.MaxJobs {
		return 0, true
	}
	if w.ExitWhenIdle > 0 && len(w.slots) > 0 {
		c.idleSince = time.Now()
	}
	if w.ExitWhenIdle > 0 && time.Since(c.idleSince) >= w.ExitWhenIdle {
		w.Log.Info("no work", "for", w.ExitWhenIdle.String())
		return 0, true
	}
	select {
	case w.slots <- struct{}{}:
		<-w.slots
	case <-ctx.Done():
		return 0, true
	}
	free = min(cap(w.slots)-len(w.slots), maxClaim)
	if w.MaxJobs > 0 {
		free = min(free, w.MaxJobs-c.claimed)
	}
	return free, false
}

// serverTakesClaims waits while the server that asked for a drain is away. A proxy
// may not let the question through: then the answer to a claim has to tell.
func (w *worker) serverTakesClaims(ctx context.Context) bool {
	for w.draining.Load() {
		resp, err := w.API.Client.Do(w.readyz(ctx))
		if err == nil {
			resp.Body.Close()
		}
		if err == nil && resp.StatusCode < http.StatusInternalServerError {
			w.draining.Store(false)
			break
		}
		if !api.Pause(ctx, time.Second) {
			return false
		}
	}
	return true
}

func (w *worker) readyz(ctx context.Context) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Server+"/readyz", nil)
	if err != nil {
		panic(err) // the URL made a client before
	}
	return r
}

// claims is the sequence of a worker's claims.
type claims struct {
	*worker
	claimed   int
	idleSince time.Time
	pause     api.Backoff
	lost      *request         // the last claim, while its answer did not come
	timeouts  boottime.Instant // from then on claims carry the time limit
	tokens    []string         // the last leases
	answered  bool             // a Stint server has answered a claim
}

// request is one claim. A claim whose answer was lost may have taken jobs, so
// it is repeated as it is, until it is answered: the key brings the same jobs.
type request struct {
	key  string
	body client.ClaimJobsRequest
	sent boottime.Instant // first
}

// job is a claimed job, with the moment at which its lease cannot have begun yet,
// and the one at which it must have begun.
type job struct {
	client.Claimed
	raw             json.RawMessage
	since, answered boottime.Instant
}

// claimed is a claim's answer.
type claimed struct {
	Jobs        []json.RawMessage `json:"jobs"`
	PollAfterMS int64             `json:"poll_after_ms"`
}

// next is the jobs of one claim; none if there are none, or the server is away
// for now. An error is one that repeating does not cure.
func (c *claims) next(ctx context.Context, limit int) ([]job, error) {
	r := c.lost
	if r == nil {
		r = c.request(limit)
	}
	c.lost = nil
	begun := time.Now()
	got, err := c.ask(ctx, r)
	switch {
	case err != nil && ctx.Err() != nil:
		c.lost = r
		return nil, nil
	case r.body.TimeoutSeconds != nil && api.Names(err, "/timeout_seconds"):
		c.withoutTimeout()
		return nil, nil
	case api.Retry(err) || c.answered && strange(err):
		c.lost = r
		wait := c.pause.After(err)
		c.Log.Warn("cannot claim for now", "error", err.Error(), "again_in", wait.Round(time.Millisecond).String())
		api.Pause(ctx, wait)
		return nil, nil
	case err != nil:
		return nil, err
	}
	c.pause.Reset()
	c.answered = true
	if len(got.Jobs) == 0 {
		// A server that is stopping does not let claims wait.
		wait := cmp.Or(time.Duration(got.PollAfterMS)*time.Millisecond, noPause)
		api.Pause(ctx, wait-time.Since(begun))
		return nil, nil
	}
	c.idleSince = time.Now()
	jobs, err := jobsOf(got.Jobs, r.sent)
	jobs = slices.DeleteFunc(jobs, c.repeated)
	c.claimed += len(jobs)
	return jobs, err
}

// strange tells whether something on the way has answered, such as a proxy whose
// server is away. Before the first claim was answered, it is the wrong address.
func strange(err error) bool { return err != nil && (api.Foreign(err) || api.Status(err) == 0) }

// repeated tells whether a job was claimed under that very lease before: an answer
// that came twice, such as through a proxy that keeps answers.
func (c *claims) repeated(j job) bool {
	if slices.Contains(c.tokens, j.LeaseToken) {
		c.Log.Warn("the same claim of a job came twice: leaving it", "job", j.ID)
		return true
	}
	c.tokens = append(c.tokens[max(0, len(c.tokens)-lastTokens+1):], j.LeaseToken)
	return false
}

func (c *claims) ask(ctx context.Context, r *request) (claimed, error) {
	got, err := api.Answer[claimed](c.API.ClaimJobs(ctx, &client.ClaimJobsParams{IdempotencyKey: &r.key}, r.body))
	return got.Value, err
}

// giveBack releases what the last claim took, if its answer did not come before
// the claiming ended. Nobody else would have the jobs until their leases end.
func (c *claims) giveBack() {
	if c.lost == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastClaim)
	defer cancel()
	got, err := c.ask(ctx, c.lost)
	if err != nil {
		return // most likely there was no job, and the claim still waits
	}
	jobs, err := jobsOf(got.Jobs, c.lost.sent)
	if err != nil {
		c.Log.Error("cannot read what was claimed", "error", err.Error())
	}
	for _, job := range jobs {
		c.jobs.Go(func() { c.attempt(job).release("") })
	}
}

func (c *claims) request(limit int) *request {
	wait := longPoll
	if c.ExitWhenIdle > 0 {
		wait = min(wait, c.ExitWhenIdle)
	}
	n, waitSeconds := int64(limit), int64((wait+time.Second-1)/time.Second)
	r := &request{key: uuid.NewString(), sent: boottime.Now(), body: client.ClaimJobsRequest{
		Worker: c.Worker, Kinds: c.Kinds, Limit: &n, WaitSeconds: &waitSeconds,
	}}
	if c.Lease > 0 {
		r.body.LeaseSeconds = seconds(c.Lease)
	}
	if c.Timeout > 0 && boottime.Now() >= c.timeouts {
		r.body.TimeoutSeconds = seconds(c.Timeout)
	}
	return r
}

// withoutTimeout leaves the time limit out of the claims to come: the server is
// older and does not know it. It is asked again later, since replicas of two
// releases may serve.
func (c *claims) withoutTimeout() {
	if c.timeouts == 0 {
		c.Log.Warn("the server knows no time limits: the worker alone ends what takes too long", "limit", c.Timeout.String())
	}
	c.timeouts = boottime.Now().Add(timeoutsAgain)
}

func jobsOf(raw []json.RawMessage, since boottime.Instant) ([]job, error) {
	jobs, now := make([]job, len(raw)), boottime.Now()
	for i := range raw {
		jobs[i] = job{raw: raw[i], since: since, answered: now}
		if err := json.Unmarshal(raw[i], &jobs[i].Claimed); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

package work

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

const (
	// longPoll is how long a claim waits at the server for work.
	longPoll = 20 * time.Second
	maxClaim = 100 // jobs in one claim
	// A claim whose answer was lost is asked for again under its key for so
	// long: it is answered with the same jobs. Below the shortest lease.
	sameClaim = 8 * time.Second
)

// claimAll claims while there is a free slot, until it is told to stop or has
// no reason to go on.
func (w *worker) claimAll(ctx context.Context) error {
	c := claims{worker: w, idleSince: time.Now()}
	for ctx.Err() == nil {
		free, done := w.room(ctx, &c)
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
				w.work(job)
			})
		}
	}
	return nil
}

// room waits for a free slot and tells how many there are; done means that
// enough jobs were claimed.
func (w *worker) room(ctx context.Context, c *claims) (free int, done bool) {
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

// serverTakesClaims waits while the server that asked for a drain is away.
func (w *worker) serverTakesClaims(ctx context.Context) bool {
	for w.draining.Load() {
		resp, err := w.API.Client.Do(w.readyz(ctx))
		if err == nil {
			resp.Body.Close()
		}
		if err == nil && resp.StatusCode == http.StatusOK {
			w.draining.Store(false)
			break
		}
		if !pause(ctx, time.Second) {
			return false
		}
	}
	return true
}

func (w *worker) readyz(ctx context.Context) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(w.Server, "/")+"/readyz", nil)
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
	pause     backoff
	lost      *request // the last claim, while its answer did not come
}

// request is one claim. It is repeated as it is: a key stands for one body.
type request struct {
	key  string
	body client.ClaimJobsRequest
	sent time.Time // first
}

// job is a claimed job, with the moment at which its lease cannot have begun yet.
type job struct {
	client.Claimed
	raw   json.RawMessage
	since time.Time
}

// next is the jobs of one claim; none if there are none, or the server is away
// for now. An error is one that repeating does not cure.
func (c *claims) next(ctx context.Context, limit int) ([]job, error) {
	r := c.lost
	if r == nil || time.Since(r.sent) > sameClaim {
		r = c.request(limit)
	}
	c.lost = nil
	begun := time.Now()
	got, err := api.Answer[struct {
		Jobs        []json.RawMessage `json:"jobs"`
		PollAfterMS int64             `json:"poll_after_ms"`
	}](c.API.ClaimJobs(ctx, &client.ClaimJobsParams{IdempotencyKey: &r.key}, r.body))
	switch {
	case ctx.Err() != nil:
		return nil, nil
	case api.Retry(err):
		c.lost = r
		wait := c.pause.after(err)
		c.Log.Warn("cannot claim for now", "error", err.Error(), "again_in", wait.Round(time.Millisecond).String())
		pause(ctx, wait)
		return nil, nil
	case err != nil:
		return nil, err
	}
	c.pause.reset()
	if len(got.Value.Jobs) == 0 {
		// A server that is stopping does not let claims wait.
		pause(ctx, time.Duration(got.Value.PollAfterMS)*time.Millisecond-time.Since(begun))
		return nil, nil
	}
	c.idleSince = time.Now()
	c.claimed += len(got.Value.Jobs)
	return jobsOf(got.Value.Jobs, r.sent)
}

func (c *claims) request(limit int) *request {
	wait := longPoll
	if c.ExitWhenIdle > 0 {
		wait = min(wait, c.ExitWhenIdle)
	}
	n, waitSeconds := int64(limit), int64((wait+time.Second-1)/time.Second)
	r := &request{key: uuid.NewString(), sent: time.Now(), body: client.ClaimJobsRequest{
		Worker: c.Worker, Kinds: c.Kinds, Limit: &n, WaitSeconds: &waitSeconds,
	}}
	if c.Lease > 0 {
		lease := int64(c.Lease / time.Second)
		r.body.LeaseSeconds = &lease
	}
	return r
}

func jobsOf(raw []json.RawMessage, since time.Time) ([]job, error) {
	jobs := make([]job, len(raw))
	for i := range raw {
		jobs[i] = job{raw: raw[i], since: since}
		if err := json.Unmarshal(raw[i], &jobs[i].Claimed); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

package work

import (
	"context"
	"log/slog"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

const (
	// The server leaves a lease alone for five seconds after its end; until
	// then nobody else has the job, and a command may go on.
	leaseSpare = 4 * time.Second
	// When the worker itself stops, commands have had Grace already.
	killAfter = 5 * time.Second
)

// attempt is a job at work.
type attempt struct {
	*worker
	job job
	log *slog.Logger

	lease time.Duration
	sure  time.Time // until then the lease is held for certain

	cancel chan struct{} // closed when the server asks to stop the work
	lost   chan struct{} // closed when the lease is gone
}

func (w *worker) attempt(j job) *attempt {
	a := &attempt{
		worker: w, job: j, lease: leaseOf(j),
		log:    w.Log.With("job", j.ID, "attempt", j.Attempt),
		cancel: make(chan struct{}), lost: make(chan struct{}),
	}
	a.sure = j.since.Add(a.lease)
	return a
}

// work runs the command for a job and reports how it ended.
func (w *worker) work(j job) {
	a := w.attempt(j)
	if !a.held() {
		return
	}
	p, err := a.start()
	if err != nil {
		w.breakDown(err)
		a.release()
		return
	}
	a.log.Info("started", "pid", p.pid())
	ctx, over := context.WithCancel(context.Background())
	beats := make(chan struct{})
	go func() {
		defer close(beats)
		a.heartbeats(ctx)
	}()
	end := a.watch(p)
	over()
	<-beats
	a.report(p, end)
}

// held makes sure of the lease before anything is done under it. A claim waits
// at the server for longer than a short lease lasts, and its answer may be the
// repetition of one that was lost: then only the server knows.
func (a *attempt) held() bool {
	sent := time.Now()
	if sent.Before(a.sure) {
		return true
	}
	directive, err := a.heartbeat(context.Background())
	switch {
	case err == nil:
		a.renewed(sent, directive)
		return true
	case gone(err):
		a.log.Warn("the lease had ended when the claim's answer came: leaving the job", "error", err.Error())
	default:
		a.log.Warn("cannot make sure of the lease: giving the job back", "error", err.Error())
		a.release()
	}
	return false
}

// leaseOf is how long the claim's lease is: both times are the server's.
func leaseOf(j job) time.Duration {
	if j.LeaseExpiresAt == nil {
		return 0
	}
	return j.LeaseExpiresAt.Sub(j.UpdatedAt).Round(time.Second)
}

// ending is why a command ended.
type ending int

const (
	byItself ending = iota // or asked to, by a cancelled job
	byLoss                 // killed: the lease is gone
	byStop                 // ended: the worker stops
)

// watch waits for the command, and ends it when it must not go on.
func (a *attempt) watch(p *process) ending {
	select {
	case <-p.done:
		return byItself
	case <-a.lost:
		p.kill()
		return byLoss
	case <-a.stop:
		if p.terminate(killAfter, a.lost) {
			return byLoss
		}
		return byStop
	case <-a.cancel:
	}
	a.log.Info("asked to stop the work", "killed_after", a.Grace.String())
	if p.terminate(a.Grace, a.lost) {
		return byLoss
	}
	return byItself
}

// heartbeats renews the lease until ctx ends or the lease is gone.
func (a *attempt) heartbeats(ctx context.Context) {
	every := a.lease / 3
	wait := time.Until(a.sure) - 2*every
	for pause(ctx, wait) {
		sent := time.Now()
		directive, err := a.heartbeat(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			a.renewed(sent, directive)
			wait = every - time.Since(sent)
			continue
		case gone(err):
			a.log.Warn("the lease is gone: killing the command", "error", err.Error())
			close(a.lost)
			return
		}
		left := time.Until(a.sure.Add(leaseSpare))
		if left <= 0 {
			a.log.Warn("the lease ran out unrenewed: killing the command", "error", err.Error())
			close(a.lost)
			return
		}
		a.log.Warn("cannot renew the lease for now", "error", err.Error(), "killed_in", left.Round(time.Second).String())
		wait = min(time.Second, left)
	}
}

// heartbeat renews the lease once. A server that does not answer must not take
// the time in which it could be asked again.
func (a *attempt) heartbeat(ctx context.Context) (client.HeartbeatAnswerDirective, error) {
	ctx, cancel := context.WithTimeout(ctx, min(a.lease/3, 10*time.Second))
	defer cancel()
	seconds := int64(a.lease / time.Second)
	beat, err := api.Answer[client.HeartbeatAnswer](a.API.HeartbeatJob(ctx, a.job.ID, nil,
		client.HeartbeatJobRequest{LeaseToken: a.job.LeaseToken, LeaseSeconds: &seconds}))
	return beat.Value.Directive, err
}

// renewed is called when a heartbeat that was sent then has been answered.
func (a *attempt) renewed(sent time.Time, d client.HeartbeatAnswerDirective) {
	a.sure = sent.Add(a.lease)
	a.obey(d)
}

func (a *attempt) obey(d client.HeartbeatAnswerDirective) {
	switch d {
	case client.HeartbeatAnswerDirectiveCancel:
		select {
		case <-a.cancel:
		default:
			close(a.cancel)
		}
	case client.HeartbeatAnswerDirectiveDrain:
		if !a.draining.Swap(true) {
			a.log.Info("the server is stopping: no claims until it is back")
		}
	}
}

// gone tells whether the server says that the lease is not held.
func gone(err error) bool {
	switch api.Code(err) {
	case "lease_lost", "state_conflict", "not_found":
		return true
	}
	return false
}

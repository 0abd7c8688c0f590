package work

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/boottime"
	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
)

const (
	// keepTime is how long a lease is renewed for a report that cannot be made. What
	// stops it may be about this report alone, and must not hold the job for ever.
	keepTime = 10 * time.Minute
	// A worker that stops does not wait longer for a server that is away before
	// it gives a job back; the lease ends in any case.
	lastTries = 10 * time.Second
)

// report tells the server how the command ended. What a command has done is told
// without a lease too: if nobody else has the job yet, it is not done again.
func (a *attempt) report(p *process, why ending) {
	end := p.End()
	if len(end.Left) > 0 {
		a.log.Error("processes of the command cannot be killed", "left", end.Left)
	}
	if end.Dropped > 0 {
		a.log.Warn("output of the command came too fast to be passed on", "bytes", end.Dropped)
	}
	f := a.finish(p, end)
	if why == byLoss || end.Expired && why != byLimit {
		p.appends.abandon()
		if !f.Stands() {
			a.log.Warn("the command was killed without a lease: nothing is reported")
			return
		}
	} else {
		defer a.keepLease()()
		p.appends.finish()
	}
	switch {
	case f.Stands() || !end.Asked && !end.Expired:
	case why == byStop:
		a.release(f.Warning)
		return
	case why == byLimit:
		f = timedOut(f, a.limit)
	}
	if f.Warning != "" {
		a.log.Warn("the report has a warning", "warning", f.Warning)
	}
	a.givenBack = f.GivesBack()
	ctx, cancel := a.reportable()
	defer cancel()
	_, _ = a.sender().Send(ctx, f) // which logs what it cannot do
}

// keepLease renews the lease until end is called.
func (a *attempt) keepLease() (end func()) {
	ctx, cancel := context.WithTimeout(context.Background(), keepTime)
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.keep(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// finish is how the attempt ended, as the supervisor has made it of the outputs.
func (a *attempt) finish(p *process, end supervise.End) outcome.Finish {
	if end.Report == nil {
		a.log.Error("the command's supervisor died", "exit_known", end.Known, "its_words", end.Crash)
		f := outcome.WithoutSupervisor(p.handover, end)
		a.files.Remove() // nobody else does if the worker ends before the report is taken
		return f
	}
	f, err := outcome.Decode(end.Report)
	if err != nil {
		panic(err) // it was made by this program
	}
	return f
}

// timedOut is the end of a command that took too long; f is what it would be
// without the limit.
func timedOut(f outcome.Finish, l limit) outcome.Finish {
	message := fmt.Sprintf("the time limit of %s has passed; ", l.length)
	if left := boottime.Until(l.at); left > 0 {
		message = fmt.Sprintf("asked to end, and ended %s before the time limit of %s; ", left.Round(time.Millisecond), l.length)
	}
	last := f.Message
	if extra := len(message) + len(last) - outcome.MaxText; extra > 0 {
		last = last[extra:]
	}
	timeout := outcome.Failed("timeout", message+last)
	timeout.Warning = f.Warning
	return timeout
}

func (a *attempt) sender() *outcome.Sender {
	return &outcome.Sender{API: a.API, JobID: a.job.ID, LeaseToken: a.job.LeaseToken, Lease: a.lease.renewal(), Log: a.log}
}

// reportable is a context that ends when the lease is gone for certain.
func (a *attempt) reportable() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for boottime.Until(a.lease.gone()) > 0 {
			if !pauseUntil(ctx, a.lease.gone()) {
				return
			}
		}
		cancel()
	}()
	return ctx, cancel
}

// release gives the job back. There is nothing to lose, so a worker that stops
// does not try for long.
func (a *attempt) release(warning string) {
	ctx, cancel := a.reportable()
	defer cancel()
	go func() {
		select {
		case <-ctx.Done():
		case <-a.stop:
			api.Pause(ctx, lastTries)
			cancel()
		}
	}()
	_, _ = a.sender().Send(ctx, outcome.Finish{Action: outcome.Release, Warning: warning})
}

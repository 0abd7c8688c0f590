package work

import (
	"context"
	"sync"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/boottime"
	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
	"github.com/stint-run/stint/gen/client"
)

const (
	// The server leaves a lease alone for five seconds after its end; until
	// then nobody else has the job, and a command may go on. A busy machine takes
	// up to two of them to kill a large tree of processes.
	leaseSpare = 3 * time.Second
	// minLease is the shortest lease that the server gives.
	minLease = 10 * time.Second
	// beatTime is how long a heartbeat waits for its answer at most.
	beatTime = 10 * time.Second
)

// lease is what the worker knows of the lease of its job. Its times count the
// sleep of the machine, as the server's do.
type lease struct {
	seconds *int64 // asked for by heartbeats

	mu     sync.Mutex
	length time.Duration    // one that no time limit has cut
	beaten boottime.Instant // when what renewed it last was sent
	sure   boottime.Instant // until then it is held for certain
}

// leaseOf is the lease of a claimed job. Its length is the difference of two times
// in the claim's answer, both the server's. If a time limit has cut it, its full
// length is not known: heartbeats name none then, and the server gives the kind's
// own. They name none either for a lease that is shorter than they may ask for.
func (w *worker) leaseOf(j job) *lease {
	l := &lease{beaten: j.since, sure: j.since}
	if j.LeaseExpiresAt == nil {
		return l
	}
	granted := j.LeaseExpiresAt.Sub(j.UpdatedAt).Round(time.Second)
	l.length, l.sure = granted, j.since.Add(granted)
	cut := reaches(*j.LeaseExpiresAt, j.DeadlineAt)
	if cut {
		l.length = max(granted, w.Lease, minLease)
	}
	switch {
	case w.Lease > 0:
		l.seconds = seconds(w.Lease)
	case !cut && granted >= minLease:
		l.seconds = seconds(granted)
	}
	return l
}

// reaches tells whether a lease was cut by a time limit.
func reaches(expires time.Time, deadline *time.Time) bool {
	return deadline != nil && !expires.Before(*deadline)
}

func seconds(d time.Duration) *int64 {
	n := int64(d / time.Second)
	return &n
}

// held is until when the lease is held for certain.
func (l *lease) held() boottime.Instant {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sure
}

// until is the moment from which somebody else may have the job.
func (l *lease) until() boottime.Instant { return l.held().Add(leaseSpare) }

// gone is the moment from which no report is taken: the server has the job back.
func (l *lease) gone() boottime.Instant { return l.held().Add(outcome.CertainlyGone) }

// renewal is how long one renewal lasts that no time limit cuts.
func (l *lease) renewal() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.length
}

// next is when the next heartbeat is due.
func (l *lease) next() boottime.Instant {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.beaten.Add(l.length / 3)
}

// patience is how long a heartbeat waits for its answer: one that does not come
// must not take the time in which the server could be asked again.
func (l *lease) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return min(l.length/3, beatTime)
}

// renewed is called when a heartbeat that was sent then has been answered. An
// older server does not tell its time, and gives what was asked for.
func (l *lease) renewed(sent boottime.Instant, beat client.HeartbeatAnswer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	granted := l.length
	if !beat.Now.IsZero() {
		granted = beat.LeaseExpiresAt.Sub(beat.Now)
		if granted > 0 && !reaches(beat.LeaseExpiresAt, beat.DeadlineAt) {
			l.length = granted
		}
	}
	l.beaten, l.sure = sent, sent.Add(granted)
}

// held makes sure of the lease before anything is done under it. A claim waits
// at the server for longer than a short lease lasts, and its answer may be the
// repetition of one that was lost: then only the server knows. It knows too how
// much is left of a time limit, whose moment is told in its own time. A job that
// is given back would come again at once, so the slot waits, or less if ctx ends.
func (a *attempt) held(ctx context.Context) bool {
	sent := boottime.Now()
	if sent < a.lease.held() && a.job.DeadlineAt == nil {
		return true
	}
	beat, err := a.beat(context.Background(), nil)
	switch {
	case err == nil:
		a.renewed(sent, beat)
		a.limit.confirm(sent, beat)
		return true
	case api.LeaseGone(err):
		a.log.Warn("the lease had ended when the claim's answer came: leaving the job", "error", err.Error())
	default:
		a.log.Warn("cannot make sure of the lease: giving the job back", "error", err.Error())
		a.release("")
		api.Pause(ctx, giveBackPause)
	}
	return false
}

// heartbeats renews the lease of a command until ctx ends or the lease is gone.
func (a *attempt) heartbeats(ctx context.Context, c *supervise.Command) {
	next := a.lease.next()
	for repeated := false; pauseUntil(ctx, next); {
		sent := boottime.Now()
		beat, err := a.heartbeat(ctx, repeated)
		repeated = err != nil
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			a.renewed(sent, beat)
			c.Extend(a.lease.until())
			next = a.lease.next()
			continue
		case api.LeaseGone(err) && a.limit.passed():
			return // the lease has ended with the time limit, which kills the command
		case api.LeaseGone(err):
			a.log.Warn("the lease is gone: killing the command", "error", err.Error())
			close(a.lost)
			return
		}
		left := boottime.Until(a.lease.until())
		if left <= 0 {
			a.log.Warn("the lease ran out unrenewed: killing the command", "error", err.Error())
			close(a.lost)
			return
		}
		a.log.Warn("cannot renew the lease for now", "error", err.Error(), "killed_in", left.Round(time.Second).String())
		next = boottime.Now().Add(min(time.Second, left))
	}
}

// keep renews the lease while the report of a command that has ended is made, until
// ctx ends: what stops a report need not stop heartbeats, and the work is done.
func (a *attempt) keep(ctx context.Context) {
	for next := a.lease.next(); pauseUntil(ctx, next); {
		sent := boottime.Now()
		beat, err := a.beat(ctx, nil)
		switch {
		case err == nil:
			a.lease.renewed(sent, beat)
			next = a.lease.next()
		case api.LeaseGone(err):
			return // perhaps because the report has arrived
		default:
			next = boottime.Now().Add(time.Second)
		}
	}
}

// heartbeat renews the lease once, as long as it may be held, and brings the
// command's progress. What the server does not take of that costs no heartbeat. One
// that is repeated brings none: a filter on the way may have stopped it for that.
func (a *attempt) heartbeat(ctx context.Context, repeated bool) (client.HeartbeatAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, boottime.Until(a.lease.until()))
	defer cancel()
	if repeated {
		return a.beat(ctx, nil)
	}
	progress, warning := a.progress.Next()
	if warning != "" {
		a.log.Warn(warning)
	}
	beat, err := a.beat(ctx, progress)
	switch {
	case progress == nil:
	case err == nil:
		a.progress.Settle(progress)
	case api.BadRequest(err):
		a.log.Warn("the server refuses the command's progress; it is left out", "error", err.Error())
		a.progress.Settle(progress)
		return a.beat(ctx, nil)
	}
	return beat, err
}

// beat sends a heartbeat.
func (a *attempt) beat(ctx context.Context, progress []byte) (client.HeartbeatAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, a.lease.patience())
	defer cancel()
	contentType, body := api.Body(client.HeartbeatJobRequest{
		LeaseToken: a.job.LeaseToken, LeaseSeconds: a.lease.seconds, Progress: progress,
	})
	beat, err := api.Answer[client.HeartbeatAnswer](a.API.HeartbeatJobWithBody(ctx, a.job.ID, nil, contentType, body))
	return beat.Value, err
}

// renewed is called when a heartbeat that was sent then has been answered.
func (a *attempt) renewed(sent boottime.Instant, beat client.HeartbeatAnswer) {
	a.lease.renewed(sent, beat)
	a.obey(beat.Directive)
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

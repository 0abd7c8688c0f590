package work

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/cmd/stint/internal/boottime"
	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
)

const (
	// When the worker itself stops, commands have had Grace already.
	killAfter = 5 * time.Second
	// giveBackPause is how long a slot stays empty that gave a job back, unworked or
	// since its command wanted that: the job can be claimed again at once, and an
	// attempt that does not count would be made again and again.
	giveBackPause = 10 * time.Second
)

// attempt is a job at work.
type attempt struct {
	*worker
	job      job
	log      *slog.Logger
	lease    *lease
	limit    limit
	files    outcome.Files
	progress *outcome.Progress

	cancel    chan struct{} // closed when the server asks to stop the work
	lost      chan struct{} // closed when the lease is gone
	givenBack bool          // by its command
}

func (w *worker) attempt(j job) *attempt {
	log := w.Log.With("job", j.ID, "attempt", j.Attempt)
	return &attempt{
		worker: w, job: j, log: log, lease: w.leaseOf(j), limit: w.limitOf(j),
		cancel: make(chan struct{}), lost: make(chan struct{}),
	}
}

// work runs the command for a job and reports how it ended. A machine that cannot
// run it for now is left alone for a while, less if ctx ends; a command that can
// never be run is the end of the worker.
func (w *worker) work(ctx context.Context, j job) {
	a := w.attempt(j)
	if !a.held(ctx) {
		return
	}
	if a.limit.passed() {
		a.log.Warn("the time limit had passed when the claim's answer came: giving the job back")
		a.release("")
		api.Pause(ctx, giveBackPause)
		return
	}
	err := a.run()
	if err == nil {
		if a.givenBack {
			api.Pause(ctx, giveBackPause)
		}
		return
	}
	a.release("")
	if errors.Is(err, supervise.ErrCommand) {
		w.breakDown(err)
		return
	}
	a.log.Error("cannot run the command for now", "error", err.Error())
	api.Pause(ctx, giveBackPause)
}

// run runs the command and reports how it ended. Its error is one of the start.
func (a *attempt) run() error {
	a.files = outcome.NameFiles()
	defer a.files.Remove()
	a.progress = a.files.Progress()
	p, err := a.start()
	if err != nil {
		return err
	}
	defer p.Settled() // before the files go: the supervisor needs them until then
	a.log.Info("started", "pid", p.PID())
	ctx, over := context.WithCancel(context.Background())
	beats := make(chan struct{})
	go func() {
		defer close(beats)
		a.heartbeats(ctx, p.Command)
	}()
	go p.appends.run()
	why := a.watch(ctx, p.Command)
	over()
	<-beats
	p.stdout.end()
	p.stderr.end()
	a.report(p, why)
	return nil
}

// ending is why a command ended.
type ending int

const (
	byItself ending = iota // or asked to, by a cancelled job
	byLoss                 // killed: the lease is gone
	byStop                 // ended: the worker stops
	byLimit                // ended: it took too long
)

// or is the cause that came first.
func (e ending) or(later ending) ending {
	if e == byItself {
		return later
	}
	return e
}

// watch waits for the command, and ends it when it must not go on.
func (a *attempt) watch(ctx context.Context, c *supervise.Command) ending {
	var warning, limit <-chan struct{}
	if a.limit.length > 0 {
		warning, limit = at(ctx, a.limit.warning(a.Grace)), at(ctx, a.limit.at)
	}
	why, stop, cancel := byItself, a.stop, a.cancel
	for {
		select {
		case <-c.Done():
			return why
		case <-a.lost:
			c.Kill()
			<-c.Done()
			return byLoss
		case <-stop:
			stop, why = nil, why.or(byStop)
			c.Terminate(killAfter)
		case <-cancel:
			cancel = nil
			a.log.Info("asked to stop the work", "killed_after", a.Grace.String())
			c.Terminate(a.Grace)
		case <-warning:
			warning, why = nil, why.or(byLimit)
			left := boottime.Until(a.limit.at)
			a.log.Warn("asked to end before its time limit", "limit", a.limit.length.String(), "killed_after", left.Round(time.Millisecond).String())
			c.Terminate(left)
		case <-limit:
			limit, why = nil, why.or(byLimit)
			c.Kill()
		}
	}
}

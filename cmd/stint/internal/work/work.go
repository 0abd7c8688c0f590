// Package work runs a command for every job that it claims: a worker for jobs
// that a program on this machine can do.
//
// A job's lease is renewed while its command runs, and until its end is reported. A
// command whose lease is lost, or has run out unrenewed because the server is away,
// is killed before any other worker can have the job. Nothing is reported for it
// then, unless it had exited 0 or said what is to become of the job.
package work

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/supervise"
	"github.com/stint-run/stint/gen/client"
)

// lastReports is how long a worker that was told to stop goes on after Grace: to end
// its commands, and to report what they did. A service manager that kills it 30
// seconds after Grace must find it gone.
var lastReports = 20 * time.Second

// Config says what to work on, and how.
type Config struct {
	API         *client.Client
	Server      string // the base URL without a slash at its end, told to commands
	Kinds       []string
	Concurrency int           // jobs at a time, at least 1
	Lease       time.Duration // in whole seconds; 0: each kind's own
	Grace       time.Duration // between asking a command to stop and killing it
	Timeout     time.Duration // of each attempt, in whole seconds; 0: none
	LogBytes    int           // of output in one append to the run's log; 0: none are made
	Worker      string        // who works, shown to people
	Command     []string      // the program and its arguments
	Exits       outcome.Exits // exit codes that say more than that the command failed

	MaxJobs      int           // stop after so many; 0: never
	ExitWhenIdle time.Duration // stop when there was no job for so long; 0: never

	Token, CAFile, Version string // with which supervisors report if the worker dies

	Stdout, Stderr io.Writer // of the commands; each write is whole lines of one of them
	Log            *slog.Logger
}

// worker is a Config at work.
type worker struct {
	Config
	slots    chan struct{} // one token for each job at work
	jobs     sync.WaitGroup
	stop     chan struct{} // closed when commands must end
	draining atomic.Bool   // the server asked for no more claims
	noLogs   atomic.Int64  // until this boottime.Instant the server is not asked to keep logs

	commands supervise.Supervisors

	cancel context.CancelFunc // ends the claiming
	once   sync.Once
	broken error // why the worker itself cannot go on
}

// Run works until ctx ends, MaxJobs or ExitWhenIdle is reached, or the server
// or the command is of no use. It claims no more then, waits up to Grace for
// the commands that run, ends those that are left, and releases their jobs. A
// report that cannot be made in time is left to the supervisor of its command,
// which makes it when this process has ended: the caller must end it soon.
func Run(ctx context.Context, c Config) error {
	w := &worker{
		Config: c,
		slots:  make(chan struct{}, c.Concurrency), stop: make(chan struct{}),
		commands: supervise.Supervisors{Commands: c.Concurrency, Log: c.Log},
	}
	claiming, cancel := context.WithCancel(ctx)
	w.cancel = cancel
	if err := w.commands.Confine(); err != nil {
		return err
	}
	err := w.claimAll(claiming)
	cancel()
	w.finish(ctx)
	return errors.Join(err, w.broken)
}

// finish waits for the jobs at work: as long as they take if there are simply
// no more to claim. If the worker was told to stop, commands have Grace to end, and
// all that is left then has lastReports.
func (w *worker) finish(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		w.jobs.Wait()
		w.commands.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
		w.Log.Info("stopping", "jobs_at_work", len(w.slots), "at_most", w.Grace.String())
	}
	if within(done, w.Grace) {
		return
	}
	close(w.stop)
	if !within(done, lastReports) {
		w.Log.Error("cannot report before the worker ends: the supervisors of the commands go on", "jobs", len(w.slots))
	}
}

// within tells whether done is closed before d has passed.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// breakDown ends the claiming: the worker is of no use. What runs goes on.
func (w *worker) breakDown(err error) {
	w.once.Do(func() {
		w.broken = err
		w.cancel()
	})
}

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/outcome"
	"github.com/stint-run/stint/cmd/stint/internal/work"
)

const workHelp = `Claim jobs of the kinds and run the command once for each.

The command reads its job as one line of JSON from standard input. Its environment
holds of the job
  STINT_JOB_ID, STINT_RUN_ID, STINT_KIND, STINT_ATTEMPT, STINT_MAX_ATTEMPTS,
  STINT_WORKER, STINT_SERVER, and where the job has them STINT_KEY, STINT_REPO_ID,
  STINT_ISSUE_NUMBER and TRACEPARENT;
and the names of three files that it may write:
  STINT_RESULT    the result: one JSON text of up to 256 KiB
  STINT_OUTCOME   {"outcome": "complete|fail|final|snooze|release", "seconds": N,
                  "code": "…", "message": "…"}, up to 64 KiB: instead of the exit
                  code; final is a failure that is not tried again
  STINT_PROGRESS  JSON of up to 16 KiB; it goes out with the next heartbeat

Not passed on are the worker's secrets and their places: STINT_TOKEN,
STINT_TOKEN_FILE, STINT_LEASE_TOKEN, STINT_DB, STINT_DB_LISTEN, DATABASE_URL,
STINT_TLS_KEY, PGPASSWORD, PGPASSFILE, PGSERVICEFILE, PGSSLKEY and PGSSLPASSWORD.
A command that needs a token or a database finds its own under another name. GIT_TERMINAL_PROMPT
is 0 if it is not set: nobody could answer.

Exit 0 completes the job. The result is what is in STINT_RESULT, else the JSON text
that begins a line of standard output and after which only white space follows,
else the last object or array that begins a line and ends one. One that cannot be
read or stored is null: a warning stays with the run, and the command is not run
again for it. Any other exit fails the attempt as exit_N or signal_NAME with the
last 4 KiB of standard error, or else of standard output; the kind's backoff says
when it is tried again. --snooze-exit and --final-exit give exit codes another
meaning.

Both outputs are passed on line by line, behind the job's id if --concurrency is
above 1. They are sent to the server too, at most every 2 s, which keeps the last
64 KiB of each attempt: stint run logs RUN.

The command runs below a supervisor of its own, in a session without a terminal.
When it has ended, what it left running is killed, in whatever session that is.
The lease is renewed while the command runs. If the lease is lost or cannot be
renewed, or if the worker dies or is stopped (SIGSTOP), all of the command is killed
before another worker can have the job. Then only an exit 0 that came before, or an
outcome in STINT_OUTCOME, is reported. If the job is cancelled, all of the command
gets SIGTERM, and SIGKILL after --grace.

A time limit (--timeout, or timeout_seconds of the kind or the job; the smallest
counts, from the claim on) sends SIGTERM --grace before it is over, yet not before
half of it, and SIGKILL when it is over; the attempt fails with the code timeout.

On SIGTERM, Ctrl-C or any other signal that ends a process, nothing more is
claimed, and what a claim takes at that moment is released. Commands have --grace
to end; then they get SIGTERM, SIGKILL 5 s later, and their jobs are released.
A second signal, from one second after the first, ends worker and commands at once;
nothing more is reported of those than STINT_OUTCOME says, and their leases run out.
A command that exits 0 completes its job, whatever asked it to end, unless another
worker has it. A worker started with nohup runs on when its terminal is closed; SIGTSTP
(Ctrl-Z), SIGTTIN and SIGTTOU do not stop it.

Claims carry an Idempotency-Key, so that one whose answer was lost brings the same
jobs when it is repeated; each that takes jobs leaves a row in the database.`

// workFlags are the flags of work, and the Config that they make.
type workFlags struct {
	work.Config
	snooze, final []string
}

func workCmd(g *globals) *cobra.Command {
	f := &workFlags{}
	c := &f.Config
	cmd := &cobra.Command{
		Use:   "work --kinds KIND,… [--concurrency N] -- CMD [ARG…]",
		Short: "Claim jobs and run a command for each",
		Long:  workHelp,
		Example: "  stint work --kinds review -- ./review.sh\n" +
			"  stint work --kinds audit --concurrency 4 --exit-when-idle 10s -- ./audit-module",
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Command = args
			return runWork(cmd, g, f)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&c.Kinds, "kinds", nil, "kinds to take, separated by commas")
	flags.IntVar(&c.Concurrency, "concurrency", 1, "jobs at a time")
	flags.DurationVar(&c.Lease, "lease", 0, "lease of a job, 10s to 24h (default each kind's own)")
	flags.DurationVar(&c.Grace, "grace", 30*time.Second, "between asking a command to end and killing it")
	flags.DurationVar(&c.Timeout, "timeout", 0, "of each attempt, 1s to 168h (default none, or the kind's and the job's)")
	flags.StringSliceVar(&f.snooze, "snooze-exit", nil, "CODE=DURATION, such as 75=15m: this exit code puts the job off, and the attempt does not count")
	flags.StringSliceVar(&f.final, "final-exit", nil, "CODE: this exit code fails the job for good")
	flags.IntVar(&c.LogBytes, "log-bytes", 64<<10, "of output sent to the run's log at a time, up to 65536; 0: none")
	flags.StringVar(&c.Worker, "worker", workerName(), "who works; shown to people, and kept with each run")
	flags.Lookup("worker").DefValue = "HOST-PID"
	flags.IntVar(&c.MaxJobs, "max-jobs", 0, "stop after so many jobs")
	flags.DurationVar(&c.ExitWhenIdle, "exit-when-idle", 0, "stop when there was no job for so long")
	for _, name := range []string{"kinds", "concurrency", "lease", "grace", "timeout"} {
		configurable(flags, name)
	}
	return cmd
}

func runWork(cmd *cobra.Command, g *globals, f *workFlags) (err error) {
	c := f.Config
	if err := checkWork(c, func(flag string) bool { return cmd.Flags().Changed(flag) || g.settings.given(flag) }); err != nil {
		return usage(err)
	}
	if c.Exits, err = outcome.ParseExits(f.snooze, f.final); err != nil {
		return usage(err)
	}
	path, err := exec.LookPath(c.Command[0])
	if err != nil {
		return usage(fmt.Errorf("find the command: %w", err))
	}
	c.Command[0] = path
	if c.API, err = g.api(); err != nil {
		return err
	}
	level := slog.LevelInfo
	if g.quiet {
		level = slog.LevelWarn
	}
	g.useAsyncOutputs(cmd.Root())
	c.Server, c.Token, c.CAFile, c.Version = g.server, g.token, g.caFile, version()
	c.Stdout, c.Stderr = g.outputs.stdout.Patient(), g.outputs.stderr.Patient()
	c.Log = slog.New(slog.NewTextHandler(g.outputs.stderr, &slog.HandlerOptions{Level: level}))
	stopOnEverySignal(g.stops)
	return work.Run(cmd.Context(), c)
}

// checkWork judges the configuration; given tells which flags are not at their
// defaults, where zero is none.
func checkWork(c work.Config, given func(flag string) bool) error {
	switch {
	case len(c.Kinds) == 0:
		return errors.New("--kinds is missing")
	case len(c.Command) == 0:
		return errors.New("the command is missing: it stands behind --")
	case c.Concurrency < 1:
		return errors.New("--concurrency is at least 1")
	case given("lease") && (c.Lease < 10*time.Second || c.Lease > 24*time.Hour || c.Lease%time.Second != 0):
		return errors.New("--lease is 10s to 24h, in whole seconds")
	case given("timeout") && (c.Timeout < time.Second || c.Timeout > 7*24*time.Hour || c.Timeout%time.Second != 0):
		return errors.New("--timeout is 1s to 168h, in whole seconds")
	case c.LogBytes < 0 || c.LogBytes > 64<<10:
		return errors.New("--log-bytes is 0 to 65536")
	case c.Grace < 0:
		return errors.New("--grace is not negative")
	case given("exit-when-idle") && c.ExitWhenIdle <= 0:
		return errors.New("--exit-when-idle is above 0")
	case given("max-jobs") && c.MaxJobs < 1:
		return errors.New("--max-jobs is at least 1")
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/work"
)

func workCmd(g *globals) *cobra.Command {
	c := work.Config{}
	cmd := &cobra.Command{
		Use:   "work --kinds KIND,… [--concurrency N] -- CMD [ARG…]",
		Short: "Claim jobs and run a command for each",
		Long: `Claim jobs of the kinds and run the command once for each.

The command reads the job as one line of JSON from its standard input, and finds
STINT_JOB_ID, STINT_RUN_ID, STINT_KIND, STINT_ATTEMPT, STINT_MAX_ATTEMPTS,
STINT_WORKER, STINT_SERVER and, where the job has them, STINT_KEY, STINT_REPO_ID,
STINT_ISSUE_NUMBER and TRACEPARENT in its environment. The worker's secrets and
their places are not passed on: STINT_TOKEN, STINT_TOKEN_FILE, STINT_LEASE_TOKEN,
STINT_DB, DATABASE_URL, STINT_TLS_KEY, PGPASSWORD, PGPASSFILE, PGSERVICEFILE,
PGSSLKEY and PGSSLPASSWORD. A command that needs a token or a database finds its
own under another name. GIT_TERMINAL_PROMPT is 0 if it is not set: nobody could
answer.

Exit 0 completes the job; its result is the last line of standard output that is
JSON. Any other exit fails the attempt with exit_N or signal_NAME and the last
4 KiB of standard error; the kind's backoff decides when it is tried again. Both
outputs are passed on line by line, behind the job's id if --concurrency is above 1.

The lease is renewed while the command runs. When the job is cancelled the command
and all it started get SIGTERM, and SIGKILL after --grace. When the lease is lost
they are killed and nothing is reported. What is still running when the command
itself has ended is killed.

Claims carry an Idempotency-Key, so that one whose answer was lost brings the same
jobs when it is repeated; each that takes jobs leaves a row in the database.

On SIGTERM or Ctrl-C no more is claimed, and what a claim takes at that moment is
released; commands have --grace to end, are then ended, and their jobs are released.
A second signal, from one second after the first, kills the commands and ends the
worker at once; nothing is reported, and the leases run out.`,
		Example: "  stint work --kinds review -- ./review.sh\n" +
			"  stint work --kinds audit --concurrency 4 --exit-when-idle 10s -- ./audit-module",
		RunE: func(cmd *cobra.Command, args []string) error {
			c.Command = args
			return runWork(cmd, g, c)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&c.Kinds, "kinds", nil, "kinds to take, separated by commas")
	flags.IntVar(&c.Concurrency, "concurrency", 1, "jobs at a time")
	flags.DurationVar(&c.Lease, "lease", 0, "lease of a job, 10s to 24h (default each kind's own)")
	flags.DurationVar(&c.Grace, "grace", 30*time.Second, "between asking a command to end and killing it")
	flags.StringVar(&c.Worker, "worker", workerName(), "who works; shown to people, and kept with each run")
	flags.Lookup("worker").DefValue = "HOST-PID"
	flags.IntVar(&c.MaxJobs, "max-jobs", 0, "stop after so many jobs")
	flags.DurationVar(&c.ExitWhenIdle, "exit-when-idle", 0, "stop when there was no job for so long")
	for _, name := range []string{"kinds", "concurrency", "lease", "grace"} {
		configurable(flags, name)
	}
	return cmd
}

func runWork(cmd *cobra.Command, g *globals, c work.Config) error {
	if err := checkWork(c); err != nil {
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
	g.outputsLast(cmd.Root())
	c.Server, c.Stdout, c.Stderr = g.server, g.lasting.stdout.Patient(), g.lasting.stderr.Patient()
	c.Log = slog.New(slog.NewTextHandler(g.lasting.stderr, &slog.HandlerOptions{Level: level}))
	c.Commands = &work.Commands{}
	defer killOnSecondSignal(cmd.Context(), c.Commands)()
	return work.Run(cmd.Context(), c)
}

// killOnSecondSignal lets the process end by a second signal as any other does,
// yet with all that its commands started. It returns what ends the waiting.
func killOnSecondSignal(ctx context.Context, commands *work.Commands) (end func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		time.Sleep(signalsApart)
		select {
		case <-signals: // the first, or what came together with it
		default:
		}
		second := (<-signals).(syscall.Signal)
		commands.Kill()
		signal.Reset(second)
		_ = syscall.Kill(os.Getpid(), second)
		time.Sleep(time.Second)
		os.Exit(128 + int(second)) // the signal was ignored when the process began
	})
	return func() { signal.Stop(signals) }
}

func checkWork(c work.Config) error {
	switch {
	case len(c.Kinds) == 0:
		return errors.New("--kinds is missing")
	case len(c.Command) == 0:
		return errors.New("the command is missing: it stands behind --")
	case c.Concurrency < 1:
		return errors.New("--concurrency is at least 1")
	case c.Lease != 0 && (c.Lease < 10*time.Second || c.Lease > 24*time.Hour || c.Lease%time.Second != 0):
		return errors.New("--lease is 10s to 24h, in whole seconds")
	case c.Grace < 0 || c.ExitWhenIdle < 0 || c.MaxJobs < 0:
		return errors.New("--grace, --exit-when-idle and --max-jobs are not negative")
	}
	return nil
}

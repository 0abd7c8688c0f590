package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

// workerName is the default of --worker: who and which process, in printable
// ASCII without spaces.
func workerName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "worker"
	}
	name := make([]byte, 0, len(host))
	for _, c := range []byte(host) {
		if c > ' ' && c <= '~' && len(name) < 100 {
			name = append(name, c)
		}
	}
	return fmt.Sprintf("%s-%d", name, os.Getpid())
}

// wholeSeconds is a flag's duration as the API counts; it refuses a part of a second.
func wholeSeconds(flag string, d time.Duration) (int64, error) {
	if d%time.Second != 0 {
		return 0, usagef("--%s is in whole seconds", flag)
	}
	return int64(d / time.Second), nil
}

func jobClaimCmd(g *globals) *cobra.Command {
	var body client.ClaimJobsRequest
	var limit int64
	cmd := &cobra.Command{
		Use:   "claim --kinds KIND,…",
		Short: "Claim due jobs under a lease, and print their lease tokens",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(body.Kinds) == 0 {
				return usagef("--kinds is missing")
			}
			body.Limit = &limit
			c, err := g.api()
			if err != nil {
				return err
			}
			done, err := api.Answer[claimedJobs](c.ClaimJobs(cmd.Context(), nil, body))
			if err != nil {
				return err
			}
			return g.printClaimed(cmd, done)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&body.Kinds, "kinds", nil, "kinds to take, separated by commas")
	flags.StringVar(&body.Worker, "worker", workerName(), "who works; shown to people")
	flags.Int64Var(&limit, "limit", 1, "how many at most, up to 100")
	givenSeconds(flags, &body.LeaseSeconds, "lease", "for how long (default each kind's own)")
	givenSeconds(flags, &body.TimeoutSeconds, "timeout", "time limit of each attempt, 1s to 168h; the smallest of the claim's, the kind's and the job's counts")
	givenSeconds(flags, &body.WaitSeconds, "wait", "how long to wait for work, up to 30s")
	flags.Lookup("worker").DefValue = "HOST-PID"
	return cmd
}

type claimedJobs struct {
	Jobs []json.RawMessage `json:"jobs"`
}

func (g *globals) printClaimed(cmd *cobra.Command, done api.Reply[claimedJobs]) error {
	if g.Output == "json" && !g.quiet {
		return printJSON(cmd.OutOrStdout(), done.Raw)
	}
	return g.printList(cmd, page{Data: done.Value.Jobs}, "id", "kind", "attempt", "key", "lease_token", "lease_expires_at", "deadline_at")
}

// ended is the attempt that a command ends.
type ended struct {
	id, lease string
	warning   *string
}

// finishCmd is a command that ends an attempt by its lease.
func finishCmd(g *globals, use, short string, act func(ctx context.Context, c *client.Client, e ended) (*http.Response, error)) *cobra.Command {
	var lease string
	var warning *string
	cmd := &cobra.Command{
		Use:   use + " ID --lease-token @FILE",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			resp, err := act(cmd.Context(), c, ended{args[0], lease, warning})
			if _, wrong := err.(*exitError); wrong {
				return err
			}
			done, err := api.Answer[client.Finished](resp, err)
			if err != nil {
				return err
			}
			job := done.Value.Job
			return g.printAction(cmd, done.Raw, job.ID, fmt.Sprintf("%s is %s; run %s %s", job.ID, job.State, done.Value.Run.ID, done.Value.Run.Status))
		},
	}
	addLease(cmd, &lease)
	givenText(cmd.Flags(), &warning, "warning", "a remark for people, kept on the run")
	return cmd
}

func jobCompleteCmd(g *globals) *cobra.Command {
	var result string
	var cmd *cobra.Command
	cmd = finishCmd(g, "complete", "Finish a job: it succeeded", func(ctx context.Context, c *client.Client, e ended) (*http.Response, error) {
		value, err := givenJSON(cmd, "result", result)
		if err != nil {
			return nil, usage(err)
		}
		contentType, body := api.Body(client.CompleteJobRequest{LeaseToken: e.lease, Result: value, Warning: e.warning})
		return c.CompleteJobWithBody(ctx, e.id, nil, contentType, body)
	})
	cmd.Flags().StringVar(&result, "result", "", "any JSON value; @FILE, @-")
	return cmd
}

func jobFailCmd(g *globals) *cobra.Command {
	var code, message string
	var final bool
	var after *int64
	cmd := finishCmd(g, "fail", "Finish an attempt: it failed", func(ctx context.Context, c *client.Client, e ended) (*http.Response, error) {
		body := client.FailJobRequest{LeaseToken: e.lease, RetryAfterSeconds: after, Error: client.ErrorBody{Code: code, Message: message}, Warning: e.warning}
		if final {
			body.Retryable = new(bool)
		}
		return c.FailJob(ctx, e.id, nil, body)
	})
	cmd.Flags().StringVar(&code, "code", "failed", "what went wrong, for programs")
	cmd.Flags().StringVar(&message, "message", "", "what went wrong, for people")
	emptyCounts(cmd.Flags(), "message")
	cmd.Flags().BoolVar(&final, "final", false, "do not try again, whatever attempts are left")
	givenSeconds(cmd.Flags(), &after, "retry-after", "when to try again (default the kind's backoff)")
	return cmd
}

func jobSnoozeCmd(g *globals) *cobra.Command {
	var wait time.Duration
	cmd := finishCmd(g, "snooze", "Give a job back until later; the attempt does not count", func(ctx context.Context, c *client.Client, e ended) (*http.Response, error) {
		seconds, err := wholeSeconds("for", wait)
		if err != nil {
			return nil, err
		}
		return c.SnoozeJob(ctx, e.id, nil, client.SnoozeJobRequest{LeaseToken: e.lease, Seconds: seconds, Warning: e.warning})
	})
	cmd.Flags().DurationVar(&wait, "for", time.Minute, "until it may be claimed again")
	return cmd
}

func jobReleaseCmd(g *globals) *cobra.Command {
	return finishCmd(g, "release", "Give a job back at once; the attempt does not count", func(ctx context.Context, c *client.Client, e ended) (*http.Response, error) {
		return c.ReleaseJob(ctx, e.id, nil, client.ReleaseJobRequest{LeaseToken: e.lease, Warning: e.warning})
	})
}

func jobHeartbeatCmd(g *globals) *cobra.Command {
	var token, progress string
	var lease *int64
	cmd := &cobra.Command{
		Use:   "heartbeat ID --lease-token @FILE",
		Short: "Extend the lease of a job, and learn whether to go on",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := givenJSON(cmd, "progress", progress)
			if err != nil {
				return usage(err)
			}
			c, err := g.api()
			if err != nil {
				return err
			}
			contentType, body := api.Body(client.HeartbeatJobRequest{LeaseToken: token, LeaseSeconds: lease, Progress: value})
			done, err := api.Answer[client.HeartbeatAnswer](c.HeartbeatJobWithBody(cmd.Context(), args[0], nil, contentType, body))
			if err != nil {
				return err
			}
			words := fmt.Sprintf("%s until %s", done.Value.Directive, done.Value.LeaseExpiresAt.Format(time.RFC3339))
			return g.printAction(cmd, done.Raw, string(done.Value.Directive), words)
		},
	}
	addLease(cmd, &token)
	givenSeconds(cmd.Flags(), &lease, "lease", "for how long from now (default the kind's)")
	cmd.Flags().StringVar(&progress, "progress", "", "any JSON value; @FILE, @-")
	return cmd
}

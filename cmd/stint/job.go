package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

func jobCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "job", Short: "Enqueue, look at and finish jobs"}
	cmd.AddCommand(jobEnqueueCmd(g), jobListCmd(g), jobShowCmd(g), jobClaimCmd(g), jobHeartbeatCmd(g),
		jobCompleteCmd(g), jobFailCmd(g), jobSnoozeCmd(g), jobReleaseCmd(g), jobCancelCmd(g), jobRetryCmd(g))
	return cmd
}

// listFlags are the flags of every list.
type listFlags struct {
	limit int64
	all   bool
}

func (f *listFlags) add(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&f.limit, "limit", 50, "how many at most")
	cmd.Flags().BoolVar(&f.all, "all", false, "everything, however much")
}

// max is the limit for collect, where 0 is none.
func (f *listFlags) max() (int64, error) {
	if f.all {
		return 0, nil
	}
	if f.limit < 1 {
		return 0, usagef("--limit is at least 1; --all lists everything")
	}
	return f.limit, nil
}

func jobListCmd(g *globals) *cobra.Command {
	var list listFlags
	var p client.ListJobsParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List jobs, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.printPages(cmd, list, func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error) {
				p.Limit, p.Cursor = limit, cursor
				return c.ListJobs(ctx, &p)
			}, "id", "kind", "state", "attempt", "key", "run_at", "updated_at")
		},
	}
	list.add(cmd)
	givenText(cmd.Flags(), &p.State, "state", "pending, claimed, succeeded, failed or cancelled")
	givenText(cmd.Flags(), &p.Kind, "kind", "of this kind")
	givenText(cmd.Flags(), &p.Key, "key", "with this key")
	givenText(cmd.Flags(), &p.RepoID, "repo-id", "about this repository")
	return cmd
}

func jobShowCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a job",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			job, err := api.Answer[client.Job](c.GetJob(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			return g.printOne(cmd, job.Raw)
		},
	}
}

func jobCancelCmd(g *globals) *cobra.Command {
	return jobByHandCmd(g, "cancel ID", "Cancel a job; a claimed one is asked to stop",
		func(ctx context.Context, c *client.Client, id string) (*http.Response, error) {
			return c.CancelJob(ctx, id, nil)
		})
}

func jobRetryCmd(g *globals) *cobra.Command {
	return jobByHandCmd(g, "retry ID", "Run a failed or cancelled job again, or one in backoff at once",
		func(ctx context.Context, c *client.Client, id string) (*http.Response, error) {
			return c.RetryJob(ctx, id, nil)
		})
}

func jobByHandCmd(g *globals, use, short string, act func(context.Context, *client.Client, string) (*http.Response, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			done, err := api.Answer[client.ByHandAnswer](act(cmd.Context(), c, args[0]))
			if err != nil {
				return err
			}
			job := done.Value.Job
			words := job.ID + " is " + string(job.State)
			if job.CancelRequestedAt != nil && job.State == client.JobStateClaimed {
				words += "; its worker is asked to stop"
			}
			return g.printAction(cmd, done.Raw, job.ID, words)
		},
	}
}

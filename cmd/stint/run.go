package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

func runCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "run", Short: "The ledger: every attempt of every job, and the runs of connections"}
	cmd.AddCommand(runListCmd(g), runShowCmd(g), runLogsCmd(g), runStartCmd(g), runHeartbeatCmd(g), runFinishCmd(g))
	return cmd
}

func runListCmd(g *globals) *cobra.Command {
	var list listFlags
	var p client.ListRunsParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List runs, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.printPages(cmd, list, func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error) {
				p.Limit, p.Cursor = limit, cursor
				return c.ListRuns(ctx, &p)
			}, "id", "job_id", "attempt", "status", "terminal_reason", "worker", "started_at", "completed_at")
		},
	}
	list.add(cmd)
	givenText(cmd.Flags(), &p.JobID, "job", "of this job")
	givenText(cmd.Flags(), &p.Status, "status", "as recorded: running, succeeded, failed, cancelled, abandoned, …")
	givenText(cmd.Flags(), &p.Kind, "kind", "job, scheduled, manual, browser or webhook")
	return cmd
}

func runShowCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a run",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			run, err := api.Answer[client.Run](c.GetRun(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			return g.printOne(cmd, run.Raw)
		},
	}
}

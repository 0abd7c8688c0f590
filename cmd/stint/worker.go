package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/gen/client"
)

func workerCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "worker", Short: "Look at who works"}
	cmd.AddCommand(workerListCmd(g))
	return cmd
}

func workerListCmd(g *globals) *cobra.Command {
	var list listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the workers of the last seven days, by name",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.printPages(cmd, list, func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error) {
				return c.ListWorkers(ctx, &client.ListWorkersParams{Limit: limit, Cursor: cursor})
			}, "name", "first_seen_at", "last_seen_at", "claimed_jobs")
		},
	}
	list.add(cmd)
	return cmd
}

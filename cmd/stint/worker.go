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
			c, err := g.api()
			if err != nil {
				return err
			}
			limit, err := list.max()
			if err != nil {
				return err
			}
			all, err := collect(cmd.Context(), limit, func(ctx context.Context, limit *int64, cursor *string) (*http.Response, error) {
				return c.ListWorkers(ctx, &client.ListWorkersParams{Limit: limit, Cursor: cursor})
			})
			if err != nil {
				return err
			}
			return g.printList(cmd, all, "name", "first_seen_at", "last_seen_at", "claimed_jobs")
		},
	}
	list.add(cmd)
	return cmd
}

package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/gen/client"
)

func leasesCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "lease", Short: "Look at which replica does the background work"}
	cmd.AddCommand(leaseListCmd(g))
	return cmd
}

func leaseListCmd(g *globals) *cobra.Command {
	var list listFlags
	var p client.ListLeasesParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the leases of background work, by name",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.printPages(cmd, list, func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error) {
				p.Limit, p.Cursor = limit, cursor
				return c.ListLeases(ctx, &p)
			}, "name", "holder", "term", "held", "taken_at", "expires_at")
		},
	}
	list.add(cmd)
	return cmd
}

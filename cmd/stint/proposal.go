package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

func proposalCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "proposal", Short: "Open, look at, merge and close proposals"}
	cmd.AddCommand(proposalCreateCmd(g), proposalListCmd(g), proposalShowCmd(g),
		proposalMoveCmd(g, "merge", "Note that an open proposal was merged", func(ctx context.Context, c *client.Client, id, match string) (*http.Response, error) {
			return c.MergeProposal(ctx, id, &client.MergeProposalParams{IfMatch: &match})
		}),
		proposalMoveCmd(g, "close", "Close an open proposal", func(ctx context.Context, c *client.Client, id, match string) (*http.Response, error) {
			return c.CloseProposal(ctx, id, &client.CloseProposalParams{IfMatch: &match})
		}),
		proposalMoveCmd(g, "reopen", "Reopen a closed proposal", func(ctx context.Context, c *client.Client, id, match string) (*http.Response, error) {
			return c.ReopenProposal(ctx, id, &client.ReopenProposalParams{IfMatch: &match})
		}))
	return cmd
}

func proposalListCmd(g *globals) *cobra.Command {
	var list listFlags
	var p client.ListProposalsParams
	cmd := &cobra.Command{
		Use:   "list REPO",
		Short: "List the proposals of a repository, newest first",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.printPages(cmd, list, func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error) {
				p.Limit, p.Cursor = limit, cursor
				return c.ListProposals(ctx, args[0], &p)
			}, "id", "state", "stream", "head", "author", "title", "created_at")
		},
	}
	list.add(cmd)
	givenText(cmd.Flags(), &p.State, "state", "open, merged or closed")
	givenText(cmd.Flags(), &p.Stream, "stream", "into this stream")
	givenText(cmd.Flags(), &p.Author, "author", "of this author")
	return cmd
}

func proposalShowCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a proposal, its transitions and the run behind it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			p, err := api.Answer[client.ProposalDetail](c.GetProposal(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			return g.printOne(cmd, p.Raw)
		},
	}
}

// proposalMoveCmd brings a proposal into another state: from the version that
// --if-match names, else from the one that it reads first. If somebody else was
// faster, that is exit code 4 and nothing changes.
func proposalMoveCmd(g *globals, name, short string, act func(ctx context.Context, c *client.Client, id, match string) (*http.Response, error)) *cobra.Command {
	var match ifMatch
	cmd := &cobra.Command{
		Use:   name + " ID",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			match, err := match.orRead(func() (*http.Response, error) { return c.GetProposal(cmd.Context(), args[0]) })
			if err != nil {
				return err
			}
			done, err := api.Answer[client.Moved](act(cmd.Context(), c, args[0], match))
			if err != nil {
				return err
			}
			p := done.Value.Proposal
			return g.printAction(cmd, done.Raw, p.ID, fmt.Sprintf("%s is %s, version %d", p.ID, p.State, p.Version))
		},
	}
	match.add(cmd)
	return cmd
}

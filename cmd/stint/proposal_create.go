package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

// proposalFlags are the members of a proposal to open.
type proposalFlags struct{ stream, head, base, title, body, author, url, run string }

func (f *proposalFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.stream, "stream", "", "what the change is to go into, such as a branch")
	cmd.Flags().StringVar(&f.head, "head", "", "what holds the change, such as a branch")
	cmd.Flags().StringVar(&f.title, "title", "", "what the change is about")
	cmd.Flags().StringVar(&f.base, "base", "", "what the change was made from, such as a commit")
	cmd.Flags().StringVar(&f.body, "body", "", "more about it, up to 64 KiB")
	cmd.Flags().StringVar(&f.author, "author", "", "who made it (default: the token's name)")
	cmd.Flags().StringVar(&f.url, "url", "", "where people look at it: http or https")
	cmd.Flags().StringVar(&f.run, "run", "", "the run that made it")
}

func (f *proposalFlags) request() client.ProposalBody {
	return client.ProposalBody{
		Stream: f.stream, Head: f.head, Title: f.title, Base: optional(f.base), Body: optional(f.body),
		Author: optional(f.author), URL: optional(f.url), RunID: optional(f.run),
	}
}

func proposalCreateCmd(g *globals) *cobra.Command {
	f := &proposalFlags{}
	cmd := &cobra.Command{
		Use:   "create REPO --stream S --head H --title T",
		Short: "Open a proposal, or find the one of that stream and head that is open",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := given(cmd, "stream", "head", "title"); err != nil {
				return err
			}
			c, err := g.api()
			if err != nil {
				return err
			}
			done, err := api.Answer[client.Created](c.CreateProposal(cmd.Context(), args[0], nil, f.request()))
			if err != nil {
				return err
			}
			words := done.Value.Proposal.ID + " is open"
			if done.Value.Deduplicated {
				words = fmt.Sprintf("%s was open already, since %s", done.Value.Proposal.ID, done.Value.Proposal.CreatedAt.UTC().Format("2006-01-02T15:04:05Z"))
			}
			return g.printAction(cmd, done.Raw, done.Value.Proposal.ID, words)
		},
	}
	f.add(cmd)
	return cmd
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

// proposalFlags adds the flags of a proposal to open.
func proposalFlags(flags *pflag.FlagSet, p *client.ProposalBody) {
	flags.StringVar(&p.Stream, "stream", "", "what the change is to go into, such as a branch")
	flags.StringVar(&p.Head, "head", "", "what holds the change, such as a branch")
	flags.StringVar(&p.Title, "title", "", "what the change is about")
	givenText(flags, &p.Base, "base", "what the change was made from, such as a commit")
	givenText(flags, &p.Body, "body", "more about it, up to 64 KiB")
	givenText(flags, &p.Author, "author", "who made it (default: the token's name)")
	givenText(flags, &p.URL, "url", "where people look at it: http or https")
	givenText(flags, &p.RunID, "run", "the run that made it")
}

func proposalCreateCmd(g *globals) *cobra.Command {
	var body client.ProposalBody
	cmd := &cobra.Command{
		Use:   "create REPO --stream S --head H --title T",
		Short: "Open a proposal, or find the one of that stream and head that is open",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := require(cmd, "stream", "head", "title"); err != nil {
				return err
			}
			c, err := g.api()
			if err != nil {
				return err
			}
			done, err := api.Answer[client.Created](c.CreateProposal(cmd.Context(), args[0], nil, body))
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
	proposalFlags(cmd.Flags(), &body)
	return cmd
}

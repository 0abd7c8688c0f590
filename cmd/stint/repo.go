package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

func repoCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "repo", Short: "Track repositories, and rename them"}
	cmd.AddCommand(repoTrackCmd(g), repoListCmd(g), repoShowCmd(g), repoRenameCmd(g))
	return cmd
}

func repoTrackCmd(g *globals) *cobra.Command {
	var body client.TrackRepoRequest
	var forge *client.TrackRepoRequestForge
	var namespace, name *string
	cmd := &cobra.Command{
		Use:   "track --forge F --namespace N --name N",
		Short: "Track a repository, or find the one that is tracked",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := require(cmd, "forge", "namespace", "name"); err != nil {
				return err
			}
			c, err := g.api()
			if err != nil {
				return err
			}
			body.Forge, body.Namespace, body.Name = *forge, *namespace, *name
			done, err := api.Answer[client.Tracked](c.TrackRepo(cmd.Context(), nil, body))
			if err != nil {
				return err
			}
			r := done.Value.Repo
			words := fmt.Sprintf("%s is %s/%s on %s", r.ID, r.Namespace, r.Name, r.Host)
			if done.Value.Deduplicated {
				words += ", tracked before"
			}
			return g.printAction(cmd, done.Raw, r.ID, words)
		},
	}
	repoNameFlags(cmd.Flags(), &forge, &body.Host, &namespace, &name)
	givenText(cmd.Flags(), &body.DefaultStream, "default-stream", "where proposals usually go, such as main")
	return cmd
}

// repoNameFlags adds the flags that name a repository.
func repoNameFlags[F ~string](flags *pflag.FlagSet, forge **F, host, namespace, name **string) {
	givenText(flags, forge, "forge", "github, gitea, forgejo or gitlab")
	givenText(flags, host, "host", "host of the forge")
	givenText(flags, namespace, "namespace", "owner or group on the forge; case does not count")
	givenText(flags, name, "name", "name of the repository; case does not count")
}

func repoListCmd(g *globals) *cobra.Command {
	var list listFlags
	var p client.ListReposParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List repositories, newest first; with --namespace and --name look one up",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.printPages(cmd, list, func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error) {
				p.Limit, p.Cursor = limit, cursor
				return c.ListRepos(ctx, &p)
			}, "id", "forge", "host", "namespace", "name", "default_stream", "created_at")
		},
	}
	list.add(cmd)
	repoNameFlags(cmd.Flags(), &p.Forge, &p.Host, &p.Namespace, &p.Name)
	return cmd
}

func repoShowCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a repository, its proposals counted, and the names that it had",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			repo, err := api.Answer[client.CountedRepo](c.GetRepo(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			return g.printOne(cmd, repo.Raw)
		},
	}
}

func repoRenameCmd(g *globals) *cobra.Command {
	var body client.RenameBody
	cmd := &cobra.Command{
		Use:   "rename ID [--forge F] [--host H] [--namespace N] [--name N]",
		Short: "Give a repository another name, or move it to another host",
		Long: `Gives a repository another name, or moves it to another host, as on its forge.

What has no flag stays. The live jobs of its issues go on under the new name, and
the old name goes on to mean this repository. It is refused while more than 1,000
of its issues have a live job, and while a replica of an older release serves.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if body == (client.RenameBody{}) {
				return usagef("one of --forge, --host, --namespace and --name is needed")
			}
			c, err := g.api()
			if err != nil {
				return err
			}
			done, err := api.Answer[client.Renamed](c.RenameRepo(cmd.Context(), args[0], nil, body))
			if err != nil {
				return err
			}
			r := done.Value.Repo
			words := fmt.Sprintf("%s is %s/%s on %s; live jobs with another key: %d", r.ID, r.Namespace, r.Name, r.Host, done.Value.RekeyedJobs)
			return g.printAction(cmd, done.Raw, r.ID, words)
		},
	}
	repoNameFlags(cmd.Flags(), &body.Forge, &body.Host, &body.Namespace, &body.Name)
	return cmd
}

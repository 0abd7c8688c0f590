package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

func repoCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "repo", Short: "Track repositories"}
	cmd.AddCommand(repoTrackCmd(g), repoListCmd(g), repoShowCmd(g))
	return cmd
}

// repoName are the flags that name a repository.
type repoName struct{ forge, host, namespace, name string }

func (n *repoName) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&n.forge, "forge", "", "github, gitea, forgejo or gitlab")
	cmd.Flags().StringVar(&n.host, "host", "", "host of the forge")
	cmd.Flags().StringVar(&n.namespace, "namespace", "", "owner or group on the forge; case does not count")
	cmd.Flags().StringVar(&n.name, "name", "", "name of the repository; case does not count")
}

func repoTrackCmd(g *globals) *cobra.Command {
	var name repoName
	var stream string
	cmd := &cobra.Command{
		Use:   "track --forge F --namespace N --name N",
		Short: "Track a repository, or find the one that is tracked",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := given(cmd, "forge", "namespace", "name"); err != nil {
				return err
			}
			c, err := g.api()
			if err != nil {
				return err
			}
			done, err := api.Answer[client.Tracked](c.TrackRepo(cmd.Context(), nil, client.TrackRepoRequest{
				Forge: client.TrackRepoRequestForge(name.forge), Host: optional(name.host),
				Namespace: name.namespace, Name: name.name, DefaultStream: optional(stream),
			}))
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
	name.add(cmd)
	cmd.Flags().StringVar(&stream, "default-stream", "", "where proposals usually go, such as main")
	return cmd
}

// given refuses a command line that lacks one of the flags.
func given(cmd *cobra.Command, flags ...string) error {
	for _, flag := range flags {
		if !cmd.Flags().Changed(flag) {
			return usagef("--%s is missing", flag)
		}
	}
	return nil
}

func repoListCmd(g *globals) *cobra.Command {
	var list listFlags
	var name repoName
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List repositories, newest first; with --namespace and --name look one up",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := client.ListReposParams{
				Forge: optional(client.ListReposParamsForge(name.forge)), Host: optional(name.host),
				Namespace: optional(name.namespace), Name: optional(name.name),
			}
			return g.printPages(cmd, list, func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error) {
				p.Limit, p.Cursor = limit, cursor
				return c.ListRepos(ctx, &p)
			}, "id", "forge", "host", "namespace", "name", "default_stream", "created_at")
		},
	}
	list.add(cmd)
	name.add(cmd)
	return cmd
}

func repoShowCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a repository, its proposals counted",
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

package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

func sourceCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "source",
		Short: "Connect sources, look at them, and end them",
		Long: `Connects sources, looks at them, and ends them.

CONNECTION is the id of a connection, or that of a connector with exactly one
connection that is not revoked.`,
	}
	cmd.AddCommand(sourceListCmd(g), sourceShowCmd(g), sourceAddCmd(g), sourceRenameCmd(g),
		sourceMoveCmd(g, "pause", "Say that nobody should start runs of a connection", func(ctx context.Context, c *client.Client, id string) (*http.Response, error) {
			return c.PauseConnection(ctx, id, nil)
		}),
		sourceMoveCmd(g, "resume", "Let a paused connection go on", func(ctx context.Context, c *client.Client, id string) (*http.Response, error) {
			return c.ResumeConnection(ctx, id, nil)
		}),
		sourceMoveCmd(g, "revoke", "End a connection for good; what it brought stays", func(ctx context.Context, c *client.Client, id string) (*http.Response, error) {
			return c.RevokeConnection(ctx, id, nil)
		}),
		sourceDeleteCmd(g), sourceImportCmd(g), sourceIngestCmd(g), sourceCheckpointsCmd(g))
	return cmd
}

// maxConnections is the largest page of connections that the server gives.
const maxConnections = 100

func sourceListCmd(g *globals) *cobra.Command {
	var list listFlags
	var p client.ListConnectionsParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List connections by connector, the oldest first, revoked ones too",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.printPages(cmd, list, func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error) {
				p.Limit, p.Cursor = min(*limit, maxConnections), cursor
				return c.ListConnections(ctx, &p)
			}, "id", "connector_id", "source_kind", "binding_key", "display_name", "status", "created_at")
		},
	}
	list.add(cmd)
	givenText(cmd.Flags(), &p.ConnectorID, "connector", "of this connector")
	return cmd
}

func sourceShowCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "show CONNECTION",
		Short: "Show a connection, its streams, its latest runs and its devices",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			connection, err := api.Answer[client.ConnectionDetail](c.GetConnection(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			return g.printOne(cmd, connection.Raw)
		},
	}
}

func sourceAddCmd(g *globals) *cobra.Command {
	var body client.ConnectionBody
	var connector, manifest *string
	var replace bool
	cmd := &cobra.Command{
		Use:   "add --connector ID",
		Short: "Connect a source, or find the connection that it has",
		Long: `Connects a source, or finds the connection that it has. A source is told by
connector, kind and binding key. With --manifest the connector is made, or has its
manifest replaced, first.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := require(cmd, "connector"); err != nil {
				return err
			}
			body.ConnectorID = *connector
			if replace {
				body.ReplaceDeleted = &replace
			}
			return g.addSource(cmd, body, manifest)
		},
	}
	givenText(cmd.Flags(), &connector, "connector", "id of the connector")
	givenText(cmd.Flags(), &manifest, "manifest", "file with the manifest of the connector, or - for standard input")
	givenText(cmd.Flags(), &body.SourceKind, "kind", "account, device, browser or manual (default account)")
	givenText(cmd.Flags(), &body.BindingKey, "binding-key", "tells the sources of a kind apart, such as an account's id")
	givenText(cmd.Flags(), &body.DisplayName, "name", "what people read (default: the connector's)")
	givenText(cmd.Flags(), &body.Status, "status", "draft or active (default draft: it becomes active with the first records)")
	cmd.Flags().BoolVar(&replace, "replace-deleted", false, "connect it also if its connection was deleted; its old records do not come back")
	return cmd
}

// addSource connects a source; the manifest, if a file is named, comes first.
func (g *globals) addSource(cmd *cobra.Command, body client.ConnectionBody, manifest *string) error {
	c, err := g.api()
	if err != nil {
		return err
	}
	if manifest != nil {
		text, err := readJSON("--manifest", "@"+*manifest, cmd.InOrStdin())
		if err != nil {
			return usage(err)
		}
		if _, err := putConnector(cmd.Context(), c, body.ConnectorID, text); err != nil {
			return err
		}
	}
	done, err := api.Answer[client.Connected](c.CreateConnection(cmd.Context(), nil, body))
	if err != nil {
		return err
	}
	words := statusWords(done.Value.Connection)
	if done.Value.Deduplicated {
		words += ", connected before"
	}
	return g.printAction(cmd, done.Raw, done.Value.Connection.ID, words)
}

func statusWords(c client.Connection) string {
	return fmt.Sprintf("%s of %s is %s", c.ID, c.ConnectorID, c.Status)
}

// sourceRenameCmd renames from the version that --if-match names, else from the one
// that it reads first. If somebody else was faster, that is exit code 4 and nothing
// changes.
func sourceRenameCmd(g *globals) *cobra.Command {
	var match ifMatch
	cmd := &cobra.Command{
		Use:   "rename CONNECTION NAME",
		Short: "Give a connection another display name",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			match, err := match.orRead(func() (*http.Response, error) { return c.GetConnection(cmd.Context(), args[0]) })
			if err != nil {
				return err
			}
			done, err := api.Answer[client.ConnectionAnswer](c.RenameConnection(cmd.Context(), args[0],
				&client.RenameConnectionParams{IfMatch: &match}, client.RenameConnectionRequest{DisplayName: args[1]}))
			if err != nil {
				return err
			}
			r := done.Value.Connection
			return g.printAction(cmd, done.Raw, r.ID, fmt.Sprintf("%s is %q, version %d", r.ID, r.DisplayName, r.Version))
		},
	}
	match.add(cmd)
	return cmd
}

// sourceMoveCmd brings a connection into another status.
func sourceMoveCmd(g *globals, name, short string, act func(context.Context, *client.Client, string) (*http.Response, error)) *cobra.Command {
	return &cobra.Command{
		Use:   name + " CONNECTION",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			done, err := api.Answer[client.ConnectionAnswer](act(cmd.Context(), c, args[0]))
			if err != nil {
				return err
			}
			return g.printAction(cmd, done.Raw, done.Value.Connection.ID, statusWords(done.Value.Connection))
		},
	}
}

func sourceDeleteCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "delete CONNECTION",
		Short: "Delete a connection and what it brought",
		Long: `Deletes a connection and what it brought. Its source does not come back by itself:
connecting it again needs --replace-deleted.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			done, err := api.Answer[client.ConnectionAnswer](c.DeleteConnection(cmd.Context(), args[0], nil))
			if err != nil {
				return err
			}
			r := done.Value.Connection
			return g.printAction(cmd, done.Raw, r.ID, fmt.Sprintf("%s of %s is deleted", r.ID, r.ConnectorID))
		},
	}
}

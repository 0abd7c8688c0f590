package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
)

func connectorCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "connector", Short: "Declare kinds of source"}
	cmd.AddCommand(connectorListCmd(g), connectorShowCmd(g), connectorPutCmd(g))
	return cmd
}

func connectorListCmd(g *globals) *cobra.Command {
	var list listFlags
	var p client.ListConnectorsParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List connectors, by id",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.printPages(cmd, list, func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error) {
				p.Limit, p.Cursor = limit, cursor
				return c.ListConnectors(ctx, &p)
			}, "id", "display_name", "version", "updated_at")
		},
	}
	list.add(cmd)
	return cmd
}

func connectorShowCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a connector, its manifest and its streams",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			connector, err := api.Answer[client.ConnectorDetail](c.GetConnector(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			return g.printOne(cmd, connector.Raw)
		},
	}
}

func connectorPutCmd(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "put ID FILE|-",
		Short: "Make a connector of a manifest, or replace the manifest it has",
		Long: `Makes a connector of the manifest in a file or on standard input, or replaces the
manifest that it has. An equal manifest changes nothing. If somebody else changes
the connector meanwhile, it exits 4 and nothing has changed.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			manifest, err := readJSON("the manifest", "@"+args[1], cmd.InOrStdin())
			if err != nil {
				return usage(err)
			}
			c, err := g.api()
			if err != nil {
				return err
			}
			done, err := putConnector(cmd.Context(), c, args[0], manifest)
			if err != nil {
				return err
			}
			return g.printAction(cmd, done.Raw, args[0], fmt.Sprintf("%s is version %d", args[0], done.Value.Connector.Version))
		},
	}
}

// putConnector puts a manifest over the one that the connector has now.
func putConnector(ctx context.Context, c *client.Client, id string, manifest json.RawMessage) (done api.Reply[client.ConnectorAnswer], err error) {
	var p client.PutConnectorParams
	present, err := api.Answer[client.ConnectorDetail](c.GetConnector(ctx, id))
	switch {
	case err == nil:
		p.IfMatch = new(present.Header.Get("ETag"))
	case api.Status(err) != http.StatusNotFound:
		return done, err
	}
	contentType, body := api.Body(struct {
		Manifest json.RawMessage `json:"manifest"`
	}{manifest})
	return api.Answer[client.ConnectorAnswer](c.PutConnectorWithBody(ctx, id, &p, contentType, body))
}

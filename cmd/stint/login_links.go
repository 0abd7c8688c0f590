package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
)

func loginListCmd(g *globals) *cobra.Command {
	var list listFlags
	var owner string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List login links, newest first, without their secret",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			limit, err := list.max()
			if err != nil {
				return err
			}
			pages := g.linksOfServer
			if g.onDatabase(owner) {
				pages = listOnDatabase(g, owner, control.Links, linkRowOf)
			}
			all, err := pages(cmd.Context(), limit)
			if err != nil {
				return err
			}
			return g.printList(cmd, all, "id", "name", "scopes", "created_at", "expires_at", "used_at", "revoked_at", "created_by")
		},
	}
	list.add(cmd)
	ownerFlag(cmd, &owner)
	return cmd
}

func (g *globals) linksOfServer(ctx context.Context, limit int64) (page, error) {
	c, err := g.api()
	if err != nil {
		return page{}, err
	}
	return collect(ctx, limit, func(ctx context.Context, limit *int64, cursor *string) (*http.Response, error) {
		return c.ListLoginLinks(ctx, &client.ListLoginLinksParams{Limit: limit, Cursor: cursor})
	})
}

func loginRevokeCmd(g *globals) *cobra.Command {
	var owner string
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a login link that nobody has used; a session is ended by stint token revoke",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			revoke := g.revokeLinkThroughServer
			if g.onDatabase(owner) {
				revoke = g.revokeLinkOnDatabase
			}
			raw, err := revoke(cmd.Context(), owner, args[0])
			if err != nil {
				return err
			}
			return g.printAction(cmd, raw, args[0], args[0]+" is revoked")
		},
	}
	ownerFlag(cmd, &owner)
	return cmd
}

func (g *globals) revokeLinkThroughServer(ctx context.Context, _, id string) (json.RawMessage, error) {
	c, err := g.api()
	if err != nil {
		return nil, err
	}
	done, err := api.Answer[client.RevokedLink](c.RevokeLoginLink(ctx, id, nil))
	return done.Raw, err
}

func (g *globals) revokeLinkOnDatabase(ctx context.Context, owner, id string) (json.RawMessage, error) {
	var got model.LoginLink
	err := g.revokeOnDatabase(ctx, owner, control.RevokeIn{ID: id}, func(ctx context.Context, q model.Querier, now coltype.Time, in control.RevokeIn) (err error) {
		got, err = control.RevokeLink(ctx, q, now, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"login_link": linkRowOf(got)})
}

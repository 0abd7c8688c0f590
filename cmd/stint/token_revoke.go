package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
)

func tokenRevokeCmd(g *globals) *cobra.Command {
	var owner string
	var withMade bool
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a token, or end a session; servers may take it for five seconds more",
		Long: "Revoke a token, or end a session; servers may take it for five seconds more. The login links\n" +
			"that it made and nobody has used end with it. Tokens that it made, and sessions that its links\n" +
			"began, go on: with --with-made they end too, and all that those made.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			revoke := g.revokeThroughServer
			if g.onDatabase(owner) {
				revoke = g.revokeTokenOnDatabase
			}
			raw, made, err := revoke(cmd.Context(), owner, args[0], withMade)
			if err != nil {
				return err
			}
			return g.printAction(cmd, raw, args[0], args[0]+" is revoked"+alsoEnded(made))
		},
	}
	ownerFlag(cmd, &owner)
	cmd.Flags().BoolVar(&withMade, "with-made", false, "also revoke the tokens that it made, the sessions that its links began, and all that those made")
	return cmd
}

// alsoEnded says in words what ended beside a token.
func alsoEnded(made control.Made) string {
	if made == (control.Made{}) {
		return ""
	}
	return fmt.Sprintf(", and with it %d of tokens and sessions, %d of unused login links", made.Tokens, made.Links)
}

func (g *globals) revokeThroughServer(ctx context.Context, _, id string, withMade bool) (json.RawMessage, control.Made, error) {
	c, err := g.api()
	if err != nil {
		return nil, control.Made{}, err
	}
	var params client.RevokeTokenParams
	if withMade {
		params.WithMade = &withMade
	}
	done, err := api.Answer[client.TokenAnswer](c.RevokeToken(ctx, id, &params))
	if err != nil {
		return nil, control.Made{}, err
	}
	return done.Raw, control.Made{Tokens: done.Value.Made.Tokens, Links: done.Value.Made.LoginLinks}, nil
}

func (g *globals) revokeTokenOnDatabase(ctx context.Context, owner, id string, withMade bool) (json.RawMessage, control.Made, error) {
	var got control.Revoked
	err := g.revokeOnDatabase(ctx, owner, control.RevokeIn{ID: id, WithMade: withMade}, func(ctx context.Context, q model.Querier, now coltype.Time, in control.RevokeIn) (err error) {
		got, err = control.Revoke(ctx, q, now, in)
		return err
	})
	if err != nil {
		return nil, control.Made{}, err
	}
	raw, err := json.Marshal(map[string]any{"token": tokenRowOf(got.Token), "made": got.Made})
	return raw, got.Made, err
}

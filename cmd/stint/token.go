package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/web"
)

func tokenCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke tokens",
		Long: "Create, list and revoke tokens: on the database itself with --db or --owner (the first\n" +
			"token of a PostgreSQL database is made so), else through the server, for its caller's owner.",
	}
	cmd.AddCommand(tokenCreateCmd(g), tokenListCmd(g), tokenRevokeCmd(g))
	return cmd
}

// onDatabase tells whether a token command works on the database.
func (g *globals) onDatabase(owner string) bool {
	return owner != "" || g.settings.of("db").Source == fromFlag
}

func ownerFlag(cmd *cobra.Command, owner *string) {
	cmd.Flags().StringVar(owner, "owner", "", "whose, on the database (default \"default\")")
}

// tokenIn is the token to make.
type tokenIn struct {
	owner, name string
	scopes      []string
	expiresIn   time.Duration
}

// madeToken is a new token; this is the one time its text is shown.
type madeToken struct {
	Token     string     `json:"token"`
	ID        string     `json:"id"`
	Owner     string     `json:"owner"`
	Scopes    []string   `json:"scopes"`
	ExpiresAt *time.Time `json:"expires_at"`
}

func tokenCreateCmd(g *globals) *cobra.Command {
	var in tokenIn
	cmd := &cobra.Command{
		Use:   "create --scopes SCOPE,…",
		Short: "Make a token, and its owner if it is new; the token is shown once",
		Example: "  stint token create --db postgres://localhost/stint --owner default --scopes admin\n" +
			"  stint token create --scopes jobs:work --name builder --expires-in 720h",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(in.scopes) == 0 {
				return usagef("--scopes is missing: admin, or some of jobs:enqueue, jobs:work, jobs:read, …")
			}
			if cmd.Flags().Changed("expires-in") && in.expiresIn <= 0 {
				return usagef("--expires-in is above 0; without it the token works for ever")
			}
			make := g.makeThroughServer
			if g.onDatabase(in.owner) {
				make = g.makeOnDatabase
			}
			made, err := make(cmd.Context(), in)
			if err != nil {
				return withScopes(err, in.scopes)
			}
			in.warnOfItsEnd(cmd, made)
			if g.Output == "table" || g.quiet {
				_, err := cmd.OutOrStdout().Write([]byte(made.Token + "\n"))
				return err
			}
			return printJSON(cmd.OutOrStdout(), made)
		},
	}
	ownerFlag(cmd, &in.owner)
	cmd.Flags().StringVar(&in.name, "name", "cli", "for people")
	cmd.Flags().StringSliceVar(&in.scopes, "scopes", nil, "what it may do, separated by commas")
	cmd.Flags().DurationVar(&in.expiresIn, "expires-in", 0, "how long it works (default for ever); through the server at most as long as the token that makes it")
	return cmd
}

// warnOfItsEnd tells of a token that ends sooner than was asked for, with the one
// that made it.
func (in tokenIn) warnOfItsEnd(cmd *cobra.Command, made madeToken) {
	if made.ExpiresAt == nil || in.expiresIn != 0 && time.Until(*made.ExpiresAt) > in.expiresIn-time.Minute {
		return
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "the token ends at %s, with the one that made it\n", made.ExpiresAt.Format(time.RFC3339))
}

// withScopes adds to a refusal which scopes there are, if an unknown one was
// asked for.
func withScopes(err error, asked []string) error {
	unknown := func(scope string) bool { return !slices.Contains(web.Scopes, scope) }
	if exitCode(err) != exitUsage || !slices.ContainsFunc(asked, unknown) {
		return err
	}
	return usagef("%s; the scopes are %s", message(err), strings.Join(web.Scopes, ", "))
}

func (g *globals) makeThroughServer(ctx context.Context, in tokenIn) (madeToken, error) {
	c, err := g.api()
	if err != nil {
		return madeToken{}, err
	}
	me, err := api.Answer[client.Whoami](c.Whoami(ctx))
	if err != nil {
		return madeToken{}, err
	}
	body := client.CreateTokenRequest{Name: in.name, Scopes: in.scopes}
	if in.expiresIn != 0 {
		at := time.Now().Add(in.expiresIn).UTC().Truncate(time.Microsecond)
		body.ExpiresAt = &at
	}
	made, err := api.Answer[client.CreatedToken](c.CreateToken(ctx, body))
	if err != nil {
		return madeToken{}, err
	}
	t := made.Value.Token
	return madeToken{Token: made.Value.Secret, ID: t.ID, Owner: me.Value.Owner, Scopes: t.Scopes, ExpiresAt: t.ExpiresAt}, nil
}

func tokenListCmd(g *globals) *cobra.Command {
	var list listFlags
	var owner string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tokens and sessions, newest first, without their text",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			limit, err := list.max()
			if err != nil {
				return err
			}
			pages := g.tokensOfServer
			if g.onDatabase(owner) {
				pages = listOnDatabase(g, owner, control.Tokens, tokenRowOf)
			}
			all, err := pages(cmd.Context(), limit)
			if err != nil {
				return err
			}
			return g.printList(cmd, all, "id", "kind", "name", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at", "created_by")
		},
	}
	list.add(cmd)
	ownerFlag(cmd, &owner)
	return cmd
}

func (g *globals) tokensOfServer(ctx context.Context, limit int64) (page, error) {
	c, err := g.api()
	if err != nil {
		return page{}, err
	}
	return collect(ctx, limit, func(ctx context.Context, limit *int64, cursor *string) (*http.Response, error) {
		return c.ListTokens(ctx, &client.ListTokensParams{Limit: limit, Cursor: cursor})
	})
}

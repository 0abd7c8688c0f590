package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/web"
)

// loginIn is the login link to make.
type loginIn struct {
	owner, name string
	scopes      []string
	life        time.Duration
	session     time.Duration
}

// madeLink is a new login link; this is the one time it is shown.
type madeLink struct {
	ID             string    `json:"id"`
	URL            string    `json:"url"`
	Name           string    `json:"name"`
	Scopes         []string  `json:"scopes"`
	ExpiresAt      time.Time `json:"expires_at"`
	SessionSeconds int64     `json:"session_seconds"`

	makerEnds *time.Time // of the token that made it, which a session does not outlive
}

func loginCmd(g *globals) *cobra.Command {
	var in loginIn
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Make a link that signs a browser in, once",
		Long: "Make a link that signs a browser in, once: through the server, for its caller's owner, or on\n" +
			"the database itself with --db or --owner. The link begins with --server: name there what the\n" +
			"browser can reach. Whoever has the link can use it, so hand it on as you would a token.",
		Example: "  stint login --name ada\n" +
			"  stint login --server https://stint.example.com --name ada --session 8h --scopes jobs:read,explore",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.life%time.Second != 0 || in.session%time.Second != 0 {
				return usagef("--ttl and --session are in whole seconds")
			}
			make := g.linkThroughServer
			if g.onDatabase(in.owner) {
				make = g.linkOnDatabase
			}
			made, err := make(cmd.Context(), in)
			if err != nil {
				return withScopes(err, in.scopes)
			}
			in.warnOfItsEnd(cmd, made)
			made.URL = g.server + made.URL
			if g.Output == "table" || g.quiet {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), made.URL)
				return err
			}
			return printJSON(cmd.OutOrStdout(), made)
		},
	}
	ownerFlag(cmd, &in.owner)
	cmd.Flags().StringVar(&in.name, "name", "owner", "who signs in: the session's name, and the author of what is done in it")
	cmd.Flags().StringSliceVar(&in.scopes, "scopes", nil, "what the session may do (default what the caller may; with --db: admin)")
	cmd.AddCommand(loginListCmd(g), loginRevokeCmd(g))
	cmd.Flags().DurationVar(&in.life, "ttl", control.LinkLife, "how long the link works, 1m to 1h")
	cmd.Flags().DurationVar(&in.session, "session", control.SessionLife, "how long the session lasts, 5m to 720h")
	return cmd
}

// warnOfItsEnd tells of sessions that end sooner than was asked for, with the token
// that made the link.
func (in loginIn) warnOfItsEnd(cmd *cobra.Command, made madeLink) {
	if made.makerEnds == nil || time.Until(*made.makerEnds) > in.session {
		return
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "the session ends at %s, with the token that made the link\n", made.makerEnds.Format(time.RFC3339))
}

func (g *globals) linkThroughServer(ctx context.Context, in loginIn) (madeLink, error) {
	c, err := g.api()
	if err != nil {
		return madeLink{}, err
	}
	me, err := api.Answer[client.Whoami](c.Whoami(ctx))
	if err != nil {
		return madeLink{}, err
	}
	life, session := int64(in.life/time.Second), int64(in.session/time.Second)
	body := client.CreateLoginLinkRequest{Name: in.name, TTLSeconds: &life, SessionSeconds: &session}
	if len(in.scopes) > 0 {
		body.Scopes = &in.scopes
	}
	made, err := api.Answer[client.CreatedLink](c.CreateLoginLink(ctx, body))
	if err != nil {
		return madeLink{}, err
	}
	l := made.Value.LoginLink
	return madeLink{
		ID: l.ID, URL: made.Value.Path, Name: l.Name, Scopes: l.Scopes, ExpiresAt: l.ExpiresAt, SessionSeconds: l.SessionSeconds,
		makerEnds: me.Value.ExpiresAt,
	}, nil
}

func (g *globals) linkOnDatabase(ctx context.Context, in loginIn) (madeLink, error) {
	if len(in.scopes) == 0 {
		in.scopes = []string{web.ScopeAdmin}
	}
	scopes, err := web.ParseScopes("/scopes", in.scopes)
	if err != nil {
		return madeLink{}, err
	}
	s, err := g.openMigrated(ctx)
	if err != nil {
		return madeLink{}, err
	}
	defer s.Close()
	owner, err := ownerOf(ctx, s, in.owner)
	if err != nil {
		return madeLink{}, err
	}
	var secret string
	var link model.LoginLink
	err = s.Tx(ctx, func(q model.Querier) error {
		now, err := s.Time(ctx)
		if err != nil {
			return err
		}
		secret, link, err = control.NewLink(ctx, q, now, control.LinkIn{
			OwnerID: owner.ID, Name: in.name, Scopes: scopes, Life: in.life, Session: in.session,
		})
		return err
	})
	if err != nil {
		return madeLink{}, err
	}
	made := madeLink{ID: control.LinkID(link), URL: control.LoginPath(secret), Name: link.Name, ExpiresAt: link.ExpiresAt.Time, SessionSeconds: link.SessionSeconds}
	return made, json.Unmarshal(link.Scopes, &made.Scopes)
}

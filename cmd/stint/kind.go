package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/stint-run/stint/cmd/stint/internal/api"
	"github.com/stint-run/stint/gen/client"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
)

func kindCmd(g *globals) *cobra.Command {
	cmd := &cobra.Command{Use: "kind", Short: "Set and pause kinds of job"}
	cmd.AddCommand(kindListCmd(g), kindSetCmd(g),
		kindHoldCmd(g, "pause", "Hold a kind back from claims", func(ctx context.Context, c *client.Client, name string) (*http.Response, error) {
			return c.PauseKind(ctx, name, nil)
		}),
		kindHoldCmd(g, "resume", "Let a paused kind be claimed again", func(ctx context.Context, c *client.Client, name string) (*http.Response, error) {
			return c.ResumeKind(ctx, name, nil)
		}))
	return cmd
}

func kindListCmd(g *globals) *cobra.Command {
	var list listFlags
	var p client.ListKindsParams
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List kinds, by name",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.printPages(cmd, list, func(ctx context.Context, c *client.Client, limit *int64, cursor *string) (*http.Response, error) {
				p.Limit, p.Cursor = limit, cursor
				return c.ListKinds(ctx, &p)
			}, "name", "lease_seconds", "max_attempts", "backoff_base_seconds", "backoff_cap_seconds", "timeout_seconds", "paused")
		},
	}
	list.add(cmd)
	return cmd
}

// kindFlags are the properties of a kind; those not given stay as they are.
type kindFlags struct{ lease, attempts, base, cap, timeout *int64 }

// kindRequest leaves a time limit out that was not named: it stays as it is, and
// a server that knows no limits takes the rest.
type kindRequest struct {
	client.PutKindRequest
	Timeout json.RawMessage `json:"timeout_seconds,omitempty"`
}

func kindSetCmd(g *globals) *cobra.Command {
	f := &kindFlags{}
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Set a kind's lease, attempts, backoff and time limit; what is not named stays",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			body, match, err := presentKind(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if err := f.apply(&body); err != nil {
				return err
			}
			contentType, r := api.Body(body)
			done, err := api.Answer[client.KindAnswer](c.PutKindWithBody(cmd.Context(), args[0], &client.PutKindParams{IfMatch: match}, contentType, r))
			if err != nil {
				return err
			}
			return g.printAction(cmd, done.Raw, args[0], fmt.Sprintf("%s is version %d", args[0], done.Value.Kind.Version))
		},
	}
	givenSeconds(cmd.Flags(), &f.lease, "lease", "lease of a claim that names none, 10s to 24h")
	givenNumber(cmd.Flags(), &f.attempts, "max-attempts", "attempts of a job that names none, 1 to 100")
	givenSeconds(cmd.Flags(), &f.base, "backoff-base", "wait before the second attempt")
	givenSeconds(cmd.Flags(), &f.cap, "backoff-cap", "the longest wait")
	givenSeconds(cmd.Flags(), &f.timeout, "timeout", "time limit of each attempt, 1s to 168h; 0 is none")
	return cmd
}

// presentKind is a kind as it is now, with the ETag that a change must show, or
// the defaults for one that is not there.
func presentKind(ctx context.Context, c *client.Client, name string) (kindRequest, *string, error) {
	kind, err := api.Answer[client.Kind](c.GetKind(ctx, name))
	if api.Status(err) == http.StatusNotFound {
		k := control.DefaultKind("", name, coltype.Time{})
		return kindRequest{PutKindRequest: client.PutKindRequest{
			LeaseSeconds: k.LeaseSeconds, MaxAttempts: k.MaxAttempts,
			BackoffBaseSeconds: k.BackoffBaseSeconds, BackoffCapSeconds: k.BackoffCapSeconds,
		}}, nil, nil
	}
	k := kind.Value
	return kindRequest{PutKindRequest: client.PutKindRequest{
		LeaseSeconds: k.LeaseSeconds, MaxAttempts: k.MaxAttempts,
		BackoffBaseSeconds: k.BackoffBaseSeconds, BackoffCapSeconds: k.BackoffCapSeconds,
	}}, new(kind.Header.Get("ETag")), err
}

func (f *kindFlags) apply(body *kindRequest) (err error) {
	for _, m := range []struct{ to, given *int64 }{
		{&body.LeaseSeconds, f.lease}, {&body.MaxAttempts, f.attempts},
		{&body.BackoffBaseSeconds, f.base}, {&body.BackoffCapSeconds, f.cap},
	} {
		if m.given != nil {
			*m.to = *m.given
		}
	}
	if f.timeout == nil {
		return nil
	}
	if *f.timeout == 0 {
		f.timeout = nil // in the request a null
	}
	body.Timeout, err = json.Marshal(f.timeout)
	return err
}

func kindHoldCmd(g *globals, name, short string, act func(context.Context, *client.Client, string) (*http.Response, error)) *cobra.Command {
	return &cobra.Command{
		Use:   name + " NAME",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.api()
			if err != nil {
				return err
			}
			done, err := api.Answer[client.KindAnswer](act(cmd.Context(), c, args[0]))
			if err != nil {
				return err
			}
			words := args[0] + " is claimed again"
			if done.Value.Kind.Paused {
				words = args[0] + " is paused"
			}
			return g.printAction(cmd, done.Raw, args[0], words)
		},
	}
}

package ops

import (
	"context"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/web"
)

type linkInput struct {
	Body struct {
		Name           string   `json:"name" minLength:"1" maxLength:"255" doc:"Of who signs in, for people."`
		Scopes         []string `json:"scopes,omitempty" minItems:"1" doc:"What the session may do; none that the caller's own token lacks. Absent: all that it has."`
		TTLSeconds     int64    `json:"ttl_seconds,omitempty" minimum:"60" maximum:"3600" default:"600" doc:"How long the link works."`
		SessionSeconds int64    `json:"session_seconds,omitempty" minimum:"300" maximum:"2592000" default:"43200" doc:"How long the session lasts."`
	}
}

// Faults are those of the scopes.
func (in *linkInput) Faults() []fault.Item {
	if in.Body.Scopes == nil {
		return nil
	}
	return web.ScopeFaults("/scopes", in.Body.Scopes)
}

// loginLinkJSON is a link as it was made.
type loginLinkJSON struct {
	Name           string       `json:"name"`
	Scopes         []string     `json:"scopes"`
	SessionSeconds int64        `json:"session_seconds"`
	CreatedAt      coltype.Time `json:"created_at"`
	ExpiresAt      coltype.Time `json:"expires_at"`
}

// createdLink shows a link's secret, once.
type createdLink struct {
	Path      string        `json:"path" doc:"Where to sign in, once: append it to the server's address. It holds the secret, and is shown once."`
	LoginLink loginLinkJSON `json:"login_link"`
	// A link is never met again, so this is always false.
	Deduplicated bool `json:"deduplicated"`
}

func (h *routes) createLink(ctx context.Context, q model.Querier, now coltype.Time, in *linkInput) (web.Answer[createdLink], error) {
	caller := web.Caller(ctx)
	scopes := in.Body.Scopes
	if scopes == nil {
		scopes = caller.Scopes
	}
	for _, scope := range scopes {
		if !caller.Allows(scope) {
			return web.Answer[createdLink]{}, fault.Forbidden(scope)
		}
	}
	secret, link, err := control.NewLink(ctx, q, now, control.LinkIn{
		OwnerID: caller.OwnerID, Name: in.Body.Name, Scopes: scopes,
		Life: seconds(in.Body.TTLSeconds), Session: seconds(in.Body.SessionSeconds),
	})
	if err != nil {
		return web.Answer[createdLink]{}, err
	}
	return web.Answer[createdLink]{Body: createdLink{Path: control.LoginPath(secret), LoginLink: loginLinkJSON{
		Name: link.Name, Scopes: namesOf(link.Scopes), SessionSeconds: link.SessionSeconds, CreatedAt: link.CreatedAt, ExpiresAt: link.ExpiresAt,
	}}}, nil
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

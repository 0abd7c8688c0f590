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
		Name           web.Name `json:"name" minLength:"1" maxLength:"255" doc:"Of who signs in, for people."`
		Scopes         []string `json:"scopes,omitempty" minItems:"1" doc:"What the session may do; none that the caller's own token lacks. Absent: all that it has."`
		TTLSeconds     int64    `json:"ttl_seconds,omitempty" minimum:"60" maximum:"3600" default:"600" doc:"How long the link works; with the caller's own token it ends at the latest."`
		SessionSeconds int64    `json:"session_seconds,omitempty" minimum:"300" maximum:"2592000" default:"43200" doc:"How long the session lasts; with the token that made the link it ends at the latest."`
	}
}

// Faults are those of the scopes.
func (in *linkInput) Faults() []fault.Item {
	if in.Body.Scopes == nil {
		return nil
	}
	return web.ScopeFaults("/scopes", in.Body.Scopes)
}

// loginLinkJSON is a link without its secret.
type loginLinkJSON struct {
	ID             string       `json:"id"`
	Name           string       `json:"name"`
	Scopes         []string     `json:"scopes"`
	SessionSeconds int64        `json:"session_seconds"`
	CreatedAt      coltype.Time `json:"created_at"`
	ExpiresAt      coltype.Time `json:"expires_at" doc:"When it ends; of a revoked link, when it was revoked."`
	UsedAt         coltype.Time `json:"used_at" nullable:"true"`
	RevokedAt      coltype.Time `json:"revoked_at" nullable:"true"`
	CreatedBy      *string      `json:"created_by" nullable:"true" doc:"The token or session that made it; null as in tokens."`
}

func linkOf(l model.LoginLink) loginLinkJSON {
	return loginLinkJSON{
		ID: control.LinkID(l), Name: l.Name, Scopes: namesOf(l.Scopes), SessionSeconds: l.SessionSeconds,
		CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt, UsedAt: l.UsedAt, RevokedAt: l.RevokedAt, CreatedBy: l.CreatedBy,
	}
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
	secret, link, err := control.NewLink(ctx, q, now, control.LinkIn{
		OwnerID: caller.OwnerID, Name: string(in.Body.Name), Scopes: scopes,
		Life: seconds(in.Body.TTLSeconds), Session: seconds(in.Body.SessionSeconds), CreatedBy: caller.TokenID,
	})
	if err != nil {
		return web.Answer[createdLink]{}, err
	}
	return web.Answer[createdLink]{Body: createdLink{Path: control.LoginPath(secret), LoginLink: linkOf(link)}}, nil
}

// listedLinks is the links of the caller's owner, newest first.
var listedLinks = web.ListOf[web.PageQuery, model.LoginLink, loginLinkJSON]{
	Kind: "login_links", Order: web.Newest,
	Page: web.PageOf(control.Links, func(ownerID string, _ *web.PageQuery) string { return ownerID }),
	Item: func(l model.LoginLink, _ coltype.Time) loginLinkJSON { return linkOf(l) },
}

type revokeLinkInput struct {
	ID string `path:"id"`
}

// revokedLink is a link after its end.
type revokedLink struct {
	LoginLink loginLinkJSON `json:"login_link"`
}

func (h *routes) revokeLink(ctx context.Context, q model.Querier, now coltype.Time, in *revokeLinkInput) (web.Answer[revokedLink], error) {
	caller := web.Caller(ctx)
	link, err := control.RevokeLink(ctx, q, now, control.RevokeIn{OwnerID: caller.OwnerID, ID: in.ID, Scopes: caller.Scopes})
	if err != nil {
		return web.Answer[revokedLink]{}, err
	}
	return web.Answer[revokedLink]{Body: revokedLink{LoginLink: linkOf(link)}}, nil
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

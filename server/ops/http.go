package ops

import (
	"context"
	"net/http"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/web"
)

// routes is what the handlers share.
type routes struct{ api *web.API }

// Routes adds the operator's routes to the API.
func Routes(a *web.API) {
	h := &routes{api: a}
	web.Read(a, web.Op{Method: http.MethodGet, Path: "/v1/whoami", ID: "whoami", Summary: "Who the token stands for",
		Scope: web.AnyToken}, h.whoami)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/tokens", ID: "create-token", Summary: "Create a token",
		Description: "The answer alone holds the token's text; it is kept nowhere, so this route takes no Idempotency-Key.",
		Scope:       web.ScopeTokensWrite, Status: http.StatusCreated, NoIdempotency: true}, h.create)
	web.List(a, web.Op{Path: "/v1/tokens", ID: "list-tokens", Summary: "List tokens, newest first", Scope: web.ScopeTokensWrite}, listedTokens)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/tokens/{id}/revoke", ID: "revoke-token", Summary: "Revoke a token, or end a session",
		Description: "The replica that answers refuses it at once, every other within 5 seconds. Login links that it made and nobody has used end too. " +
			"It must have no scope that the caller's own token lacks. Revoking twice changes nothing.",
		Scope: web.ScopeTokensWrite}, h.revoke)
	web.List(a, web.Op{Path: "/v1/leases", ID: "list-leases", Summary: "List the leases of background work, by name",
		Description: "They belong to the instance: every owner sees the same ones.",
		Scope:       web.ScopeOpsRead}, listedLeases)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/login-links", ID: "create-login-link", Summary: "Make a one-time login link",
		Description: "Whoever opens the link and presses the button signs in as the caller's owner, once. The answer alone holds the secret; it is kept nowhere, so this route takes no Idempotency-Key.",
		Scope:       web.ScopeTokensWrite, Tag: "tokens", Status: http.StatusCreated, NoIdempotency: true}, h.createLink)
	web.List(a, web.Op{Path: "/v1/login-links", ID: "list-login-links", Summary: "List login links, newest first",
		Description: "Used or not, without their secret. One that is over is removed within some minutes.",
		Scope:       web.ScopeTokensWrite, Tag: "tokens"}, listedLinks)
	web.Write(a, web.Op{Method: http.MethodPost, Path: "/v1/login-links/{id}/revoke", ID: "revoke-login-link", Summary: "Revoke a login link that nobody has used",
		Description: "It must have no scope that the caller's own token lacks. Revoking twice changes nothing. A used link is 409: its session is in the list of tokens.",
		Scope:       web.ScopeTokensWrite, Tag: "tokens", Faults: []string{"state_conflict"}}, h.revokeLink)
	web.List(a, web.Op{Path: "/v1/workers", ID: "list-workers", Summary: "List workers, by name",
		Description: "Who claimed or finished a job in the last seven days.",
		Scope:       web.ScopeOpsRead}, listedWorkers)
	web.Read(a, web.Op{Method: http.MethodGet, Path: "/v1/overview", ID: "get-overview", Summary: "Count what needs a person",
		Scope: web.ScopeOpsRead}, h.overview)
}

// whoamiJSON is the owner and token that a request acts for.
type whoamiJSON struct {
	Owner     string   `json:"owner"`
	TokenID   string   `json:"token_id"`
	TokenName string   `json:"token_name"`
	Kind      string   `json:"kind" enum:"bearer,session"`
	Scopes    []string `json:"scopes"`

	ExpiresAt coltype.Time `json:"expires_at" nullable:"true" doc:"Of the token or session; null: never."`
}

type noInput struct{}

func (h *routes) whoami(ctx context.Context, _ model.Reader, _ coltype.Time, _ *noInput) (*whoamiJSON, error) {
	p := web.Caller(ctx)
	return &whoamiJSON{Owner: p.OwnerName, TokenID: p.TokenID, TokenName: p.TokenName, Kind: p.Kind, Scopes: p.Scopes, ExpiresAt: p.ExpiresAt}, nil
}

type createInput struct {
	Body struct {
		Name      web.Name     `json:"name" minLength:"1" doc:"For people."`
		Scopes    []string     `json:"scopes" minItems:"1" doc:"What the token may do; none that the caller's own token lacks."`
		ExpiresAt coltype.Time `json:"expires_at,omitempty" doc:"With the caller's own token at the latest, whatever is asked for. Absent: never, or with that token."`
	}
}

// Faults are those of the scopes.
func (in *createInput) Faults() []fault.Item { return web.ScopeFaults("/scopes", in.Body.Scopes) }

// createdToken shows a token's text, once.
type createdToken struct {
	Secret string    `json:"secret" doc:"The token. It is shown once."`
	Token  tokenJSON `json:"token"`
	// A token is never met again, so this is always false.
	Deduplicated bool `json:"deduplicated"`
}

func (h *routes) create(ctx context.Context, q model.Querier, now coltype.Time, in *createInput) (web.Answer[createdToken], error) {
	caller := web.Caller(ctx)
	text, token, err := control.Issue(ctx, q, now, control.TokenIn{
		OwnerID: caller.OwnerID, Name: string(in.Body.Name), Scopes: in.Body.Scopes, ExpiresAt: in.Body.ExpiresAt, CreatedBy: caller.TokenID,
	})
	if err != nil {
		return web.Answer[createdToken]{}, err
	}
	return web.Answer[createdToken]{Body: createdToken{Secret: text, Token: tokenOf(token)}}, nil
}

// listedTokens is the tokens of the caller's owner, newest first.
var listedTokens = web.ListOf[web.PageQuery, model.Token, tokenJSON]{
	Kind: "tokens", Order: web.Newest,
	Page: web.PageOf(control.Tokens, func(ownerID string, _ *web.PageQuery) string { return ownerID }),
	Item: func(t model.Token, _ coltype.Time) tokenJSON { return tokenOf(t) },
}

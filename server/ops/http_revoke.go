package ops

import (
	"context"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/web"
)

type revokeInput struct {
	ID       string `path:"id"`
	WithMade bool   `query:"with_made" doc:"Also revoke the tokens that it made, the sessions that its login links began, and all that those made."`
}

// tokenAnswer is a token after its end.
type tokenAnswer struct {
	Token tokenJSON    `json:"token"`
	Made  control.Made `json:"made" doc:"Counts what ended with it."`
}

func (h *routes) revoke(ctx context.Context, q model.Querier, now coltype.Time, in *revokeInput) (web.Answer[tokenAnswer], error) {
	caller := web.Caller(ctx)
	got, err := control.Revoke(ctx, q, now, control.RevokeIn{OwnerID: caller.OwnerID, ID: in.ID, WithMade: in.WithMade, Scopes: caller.Scopes})
	if err != nil {
		return web.Answer[tokenAnswer]{}, err
	}
	return web.Answer[tokenAnswer]{
		Body: tokenAnswer{Token: tokenOf(got.Token), Made: got.Made},
		After: func() {
			for _, id := range got.Ended {
				h.api.EndToken(id, now)
			}
		},
	}, nil
}

package ops

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/web"
)

// leaseJSON is a lease of the replicas as operators see it.
type leaseJSON struct {
	Name      string       `json:"name" doc:"The background work that one replica at a time does."`
	Holder    string       `json:"holder" doc:"The replica that has it, or had it last: host, process id, random letters."`
	Term      int64        `json:"term" doc:"Counts the changes of holder."`
	TakenAt   coltype.Time `json:"taken_at" doc:"When the term began."`
	ExpiresAt coltype.Time `json:"expires_at" doc:"When it ends, or ended, unless it is renewed."`
	Held      bool         `json:"held" doc:"Whether it runs now."`
}

type leasesInput struct {
	web.PageQuery
}

// leases lists by name. They belong to the instance, not to an owner, so that
// whoever may read them reads them all.
func (h *routes) leases(ctx context.Context, q model.Reader, now coltype.Time, in *leasesInput) (*web.Page[leaseJSON], error) {
	w, err := h.api.Window(ctx, in.PageQuery, "leases", web.Oldest)
	if err != nil {
		return nil, err
	}
	rows, err := q.LeaseList(ctx, model.LeaseListParams{AfterName: w.ID, Max: w.Fetch()})
	if err != nil {
		return nil, fmt.Errorf("list leases: %w", err)
	}
	page, next := keyset.Cut(rows, int(w.Limit), func(l model.Lease) keyset.Position {
		return keyset.Position{At: l.TakenAt, ID: l.Name}
	})
	return web.NewPage(w, keyset.Convert(page, func(l model.Lease) leaseJSON {
		return leaseJSON{Name: l.Name, Holder: l.Holder, Term: l.Term, TakenAt: l.TakenAt, ExpiresAt: l.ExpiresAt, Held: now.Before(l.ExpiresAt)}
	}), next), nil
}

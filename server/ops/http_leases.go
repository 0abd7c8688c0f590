package ops

import (
	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
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

// listedLeases is all leases, by name: whoever may read them reads them all.
var listedLeases = web.ListOf[web.PageQuery, model.Lease, leaseJSON]{
	Kind: "leases", Order: web.Oldest,
	Page: web.PageOf(control.Leases, func(string, *web.PageQuery) struct{} { return struct{}{} }),
	Item: func(l model.Lease, now coltype.Time) leaseJSON {
		return leaseJSON{Name: l.Name, Holder: l.Holder, Term: l.Term, TakenAt: l.TakenAt, ExpiresAt: l.ExpiresAt, Held: now.Before(l.ExpiresAt)}
	},
}

package control

import (
	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/keyset"
)

// Tokens is an owner's tokens, newest first.
var Tokens = keyset.Plain("tokens",
	func(t model.Token) keyset.Position { return keyset.Position{At: t.CreatedAt, ID: t.ID} },
	func(ownerID string, from keyset.Position, max int64) model.TokenPageParams {
		return model.TokenPageParams{OwnerID: ownerID, BeforeAt: from.At, BeforeID: from.ID, Max: max}
	}, model.Reader.TokenPage)

// Links is an owner's login links that were not swept, newest first.
var Links = keyset.Plain("login_links",
	func(l model.LoginLink) keyset.Position { return keyset.Position{At: l.CreatedAt, ID: linkPosition(l)} },
	func(ownerID string, from keyset.Position, max int64) model.LoginLinkPageParams {
		return model.LoginLinkPageParams{OwnerID: ownerID, BeforeAt: from.At, BeforeHash: from.ID, Max: max}
	}, model.Reader.LoginLinkPage)

// Leases is all leases, by name: they belong to the instance, not to an owner.
var Leases = keyset.Plain("leases",
	func(l model.Lease) keyset.Position { return keyset.Position{At: l.TakenAt, ID: l.Name} },
	func(_ struct{}, from keyset.Position, max int64) model.LeaseListParams {
		return model.LeaseListParams{AfterName: from.ID, Max: max}
	}, model.Reader.LeaseList)

// SeenWorkers is an owner's workers, by name.
var SeenWorkers = keyset.Plain("workers",
	func(w model.Worker) keyset.Position { return keyset.Position{At: w.FirstSeenAt, ID: w.Name} },
	func(ownerID string, from keyset.Position, max int64) model.WorkerPageParams {
		return model.WorkerPageParams{OwnerID: ownerID, AfterName: from.ID, Max: max}
	}, model.Reader.WorkerPage)

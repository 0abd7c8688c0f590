package control

import (
	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
)

// BuiltinKinds are the kinds of job that every owner has from the start.
var BuiltinKinds = []string{"implement", "review", "discover", "sync"}

// The settings of a kind that nobody has set: seconds, and attempts.
const (
	defaultLeaseSeconds       = 60
	defaultMaxAttempts        = 5
	defaultBackoffBaseSeconds = 5
	defaultBackoffCapSeconds  = 3600
)

// DefaultKind is a kind of an owner as it is first registered.
func DefaultKind(ownerID, name string, now coltype.Time) model.KindInsertParams {
	return model.KindInsertParams{
		OwnerID: ownerID, Name: name, LeaseSeconds: defaultLeaseSeconds, MaxAttempts: defaultMaxAttempts,
		BackoffBaseSeconds: defaultBackoffBaseSeconds, BackoffCapSeconds: defaultBackoffCapSeconds, CreatedAt: now,
	}
}

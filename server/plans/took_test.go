package plans

import (
	"maps"
	"reflect"
	"slices"

	"github.com/stint-run/stint/schema/coltype"
)

// took has, by release, the parameters of statements that later builds call with others; they hold up to that release.
var took = map[string]map[string]any{
	"0001": {
		"IdempotencyKeyInsert": struct {
			OwnerID, Principal, Route, Key, Fingerprint string
		}{},
		"IdempotencyKeySetAnswer": struct {
			Status                               int64
			Body, OwnerID, Principal, Route, Key string
		}{},
		"RepoInsert": struct {
			ID, OwnerID, Forge, Host, Namespace, Name string
			CreatedAt                                 coltype.Time
		}{},
		"TokenInsert": struct {
			ID, OwnerID, Name, Hash string
			Scopes                  coltype.JSON
			CreatedAt, ExpiresAt    coltype.Time
		}{},
	},
	"0007": {
		"JobReplace": struct {
			Payload     coltype.JSON
			Priority    int64
			RunAt       coltype.Time
			MaxAttempts int64
			Traceparent *string
			UpdatedAt   coltype.Time
			ID, OwnerID string
		}{},
		"JobSettle": struct {
			State                                    string
			Payload                                  coltype.JSON
			Priority                                 int64
			RunAt                                    coltype.Time
			Attempt, MaxAttempts                     int64
			Traceparent                              *string
			Result, Error, Progress                  coltype.JSON
			FollowedBy                               *string
			CancelRequestedAt, FinishedAt, UpdatedAt coltype.Time
			ID, OwnerID                              string
			LeaseToken                               *string
			LeaseExpiresAt                           coltype.Time
		}{},
		"KindInsert": struct {
			OwnerID, Name                                                    string
			LeaseSeconds, MaxAttempts, BackoffBaseSeconds, BackoffCapSeconds int64
			CreatedAt                                                        coltype.Time
		}{},
		"KindSet": struct {
			LeaseSeconds, MaxAttempts, BackoffBaseSeconds, BackoffCapSeconds int64
			UpdatedAt                                                        coltype.Time
			OwnerID, Name                                                    string
			Version                                                          int64
		}{},
		"RunEnd": struct {
			Status          string
			TerminalReason  *string
			Error, Progress coltype.JSON
			CompletedAt     coltype.Time
			JobID           *string
			OwnerID         string
		}{},
	},
	"0010": {
		"JobCountTroubled": struct {
			Since   coltype.Time
			OwnerID string
			Max     int64
			Now     coltype.Time
		}{},
		"JobListOverdue": struct {
			Cutoff coltype.Time
			Max    int64
		}{},
		"JobLockOverdue": struct {
			Cutoff  coltype.Time
			AfterID string
			Max     int64
		}{},
		"JobRenew": struct {
			Now          coltype.Time
			LeaseSeconds *int64
			Progress     coltype.JSON
			ID, OwnerID  string
			LeaseToken   *string
		}{},
		"JobRevive": struct {
			Attempt         int64
			Now             coltype.Time
			Error, Progress coltype.JSON
			Actor           *string
			ID, OwnerID     string
			ExpectedState   string
			ExpectedAttempt int64
		}{},
		"LoginLinkInsert": struct {
			Hash, OwnerID, Name  string
			Scopes               coltype.JSON
			SessionSeconds       int64
			CreatedAt, ExpiresAt coltype.Time
		}{},
		"LoginLinkUse": struct {
			Now  coltype.Time
			Hash string
		}{},
		"RepoGetByName": struct{ OwnerID, Forge, Host, Namespace, Name string }{},
		"TokenInsert": struct {
			ID, OwnerID, Name, Hash string
			Scopes                  coltype.JSON
			CreatedAt, ExpiresAt    coltype.Time
			Kind                    string
		}{},
	},
}

// tookBy is what a statement of a build took, or nil: as this build's accessor.
func tookBy(b build, name string) reflect.Type {
	for _, release := range slices.Sorted(maps.Keys(took)) {
		if params := took[release][name]; params != nil && b.name <= release {
			return reflect.TypeOf(params)
		}
	}
	return nil
}

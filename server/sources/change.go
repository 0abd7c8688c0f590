package sources

import (
	"context"
	"fmt"
	"slices"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/runs"
)

// MoveIn brings the connection of a selector into another status. Actor is recorded.
type MoveIn struct {
	OwnerID  string
	Selector string
	To       string
	Actor    string
}

// enteredFrom are the statuses from which each is entered by hand. A draft becomes
// active by what it brings; nothing leads back from revoked.
var enteredFrom = map[string][]string{
	Paused:  {Active},
	Active:  {Paused},
	Revoked: {Draft, Active, Paused},
}

// Move pauses, resumes or revokes a connection. One that has the status stays as it
// is; a status that forbids the transition is state_conflict. Revoking cancels the
// run that is active.
func Move(ctx context.Context, q model.Querier, now coltype.Time, in MoveIn) (model.Connection, error) {
	c, active, err := in.lock(ctx, q)
	if err != nil || c.Status == in.To {
		return c, err
	}
	if !slices.Contains(enteredFrom[in.To], c.Status) {
		return model.Connection{}, fault.ConnectionConflict(c.ID, c.Status)
	}
	if in.To == Revoked {
		err = cancel(ctx, q, now, c, active, runs.ReasonRevoked)
	}
	if err != nil {
		return model.Connection{}, err
	}
	set := model.ConnectionSetStatusParams{
		ID: c.ID, OwnerID: c.OwnerID, FromStatus: c.Status, ExpectedVersion: c.Version,
		ToStatus: in.To, Actor: &in.Actor, Now: coltype.Later(now, c.UpdatedAt),
	}
	if in.To == Revoked {
		set.RevokedAt = set.Now
	}
	moved, err := q.ConnectionSetStatus(ctx, set)
	if err != nil {
		return model.Connection{}, fmt.Errorf("bring %s from %s to %s: %w", c.ID, c.Status, in.To, err)
	}
	return moved, nil
}

// RenameIn gives a connection another display name. Match refuses a version that the
// caller has not seen. Actor is recorded.
type RenameIn struct {
	OwnerID     string
	Selector    string
	DisplayName string
	Actor       string
	Match       func(version int64) error
}

// Rename gives a connection another display name; the one that it has changes
// nothing.
func Rename(ctx context.Context, q model.Querier, now coltype.Time, in RenameIn) (model.Connection, error) {
	c, err := lockSelected(ctx, q, in.OwnerID, in.Selector)
	if err == nil {
		err = in.Match(c.Version)
	}
	if err != nil || c.DisplayName == in.DisplayName {
		return c, err
	}
	renamed, err := q.ConnectionRename(ctx, model.ConnectionRenameParams{
		ID: c.ID, OwnerID: c.OwnerID, ExpectedVersion: c.Version,
		DisplayName: in.DisplayName, Actor: &in.Actor, Now: coltype.Later(now, c.UpdatedAt),
	})
	if err != nil {
		return model.Connection{}, fmt.Errorf("rename %s: %w", c.ID, err)
	}
	return renamed, nil
}

// lock locks the connection, and the running run if that is to end.
func (in MoveIn) lock(ctx context.Context, q model.Querier) (model.Connection, *runs.Active, error) {
	if in.To == Revoked {
		return lockSelectedWithRun(ctx, q, in.OwnerID, in.Selector)
	}
	c, err := lockSelected(ctx, q, in.OwnerID, in.Selector)
	return c, nil, err
}

// lockSelected locks the connection of a selector.
func lockSelected(ctx context.Context, q model.Querier, ownerID, selector string) (model.Connection, error) {
	c, err := Resolve(ctx, q, ownerID, selector)
	if err != nil {
		return model.Connection{}, err
	}
	return Lock(ctx, q, ownerID, c.ID)
}

// lockSelectedWithRun locks the connection of a selector together with its running run.
func lockSelectedWithRun(ctx context.Context, q model.Querier, ownerID, selector string) (model.Connection, *runs.Active, error) {
	c, err := Resolve(ctx, q, ownerID, selector)
	if err != nil {
		return model.Connection{}, nil, err
	}
	return lockWithRun(ctx, q, ownerID, c.ID)
}

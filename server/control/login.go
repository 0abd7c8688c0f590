package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// How long a login link can be used, and how long a session lasts.
const (
	LinkLife    = 10 * time.Minute // unless said otherwise
	MinLinkLife = time.Minute
	MaxLinkLife = time.Hour

	SessionLife    = 12 * time.Hour // unless said otherwise
	MinSessionLife = 5 * time.Minute
	MaxSessionLife = 30 * 24 * time.Hour

	// keepSessions is how long a session is listed after its end.
	keepSessions = 30 * 24 * time.Hour

	sweepLogins = time.Minute
	loginBatch  = 500
)

// Login uses a link up and begins its session, which ends with the link's maker at
// the latest. It returns the secret for the session's cookie. A link that is
// malformed, unknown, used or over, or whose maker is, is the fault
// login_link_invalid, all alike.
func Login(ctx context.Context, q model.Querier, now coltype.Time, secret string) (string, model.Token, error) {
	if !wellFormed(linkPrefix, secret) {
		return "", model.Token{}, fault.LoginLinkInvalid()
	}
	hash := hashSecret(secret)
	by, err := makerOfLink(ctx, q, now, hash)
	if err != nil {
		return "", model.Token{}, err
	}
	link, err := q.LoginLinkUse(ctx, model.LoginLinkUseParams{Hash: hash, Now: now, Latest: now.Add(MaxLinkLife + store.Apart)})
	if store.NotFound(err) {
		return "", model.Token{}, fault.LoginLinkInvalid()
	}
	if err != nil {
		return "", model.Token{}, fmt.Errorf("use login link: %w", err)
	}
	in := TokenIn{OwnerID: link.OwnerID, Name: link.Name, ExpiresAt: now.Add(time.Duration(link.SessionSeconds) * time.Second)}
	if in.Scopes, err = scopesOf(link.Scopes); err != nil {
		return "", model.Token{}, fmt.Errorf("read scopes of login link: %w", err)
	}
	return in.issue(ctx, q, now, Session, by)
}

// makerOfLink holds the maker of a link that can be used. A link that cannot costs
// as many statements as an unknown one, so that nobody learns which it is. The maker
// is held before the link is used up: a revocation locks a token first and then its
// links, and two transactions that lock both must do so in one order.
func makerOfLink(ctx context.Context, q model.Querier, now coltype.Time, hash string) (maker, error) {
	link, err := q.LoginLinkMaker(ctx, model.LoginLinkMakerParams{Hash: hash})
	if store.NotFound(err) {
		return maker{}, fault.LoginLinkInvalid()
	}
	if err != nil {
		return maker{}, fmt.Errorf("look up login link: %w", err)
	}
	if !link.UsedAt.IsZero() || !link.RevokedAt.IsZero() || !now.Before(link.ExpiresAt) {
		return maker{}, fault.LoginLinkInvalid()
	}
	if link.CreatedBy == nil {
		return maker{}, nil
	}
	by, err := hold(ctx, q, now, link.OwnerID, *link.CreatedBy)
	if f, ok := errors.AsType[*fault.Fault](err); ok && f.Code == fault.Unauthorized().Code {
		err = fault.LoginLinkInvalid()
	}
	return by, err
}

// EndSession ends the session that p stands for, and the links that it made and
// nobody has used. One that is over, or no longer listed, is no fault.
func EndSession(ctx context.Context, q model.Querier, now coltype.Time, p Principal) error {
	_, err := revoke(ctx, q, now, p.OwnerID, p.TokenID)
	return err
}

// LoginLoops are the passes that remove links and sessions that are long over.
func LoginLoops() []Loop {
	return []Loop{
		{Name: "login-links", Every: sweepLogins, Batch: loginBatch, Pass: SweepLinks},
		{Name: "sessions", Every: sweepLogins, Batch: loginBatch, Pass: SweepSessions},
	}
}

// SweepLinks removes links that nobody can use any more, and returns how many.
func SweepLinks(ctx context.Context, q model.Querier, now coltype.Time) (int, error) {
	n, err := q.LoginLinkSweep(ctx, model.LoginLinkSweepParams{Cutoff: now, Max: loginBatch})
	if err != nil {
		return 0, fmt.Errorf("sweep login links: %w", err)
	}
	return int(n), nil
}

// SweepSessions removes sessions that ended 30 days ago, and returns how many.
func SweepSessions(ctx context.Context, q model.Querier, now coltype.Time) (int, error) {
	n, err := q.TokenSweepSessions(ctx, model.TokenSweepSessionsParams{Cutoff: now.Add(-keepSessions), Max: loginBatch})
	if err != nil {
		return 0, fmt.Errorf("sweep sessions: %w", err)
	}
	return int(n), nil
}

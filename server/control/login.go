package control

import (
	"context"
	"encoding/json"
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

// LinkIn is what a login link is for.
type LinkIn struct {
	OwnerID string
	Name    string   // of who signs in: the session's; 1 to 255 bytes
	Scopes  []string // of the session; known ones, at least one
	Life    time.Duration
	Session time.Duration // how long the session lasts
}

// Link is a login link as it was kept.
type Link = model.LoginLinkInsertParams

// LoginPath is where the link with that secret leads, on whatever address the
// server has. What follows the # stays in the browser, so that no proxy, log or
// Referer ever holds it.
func LoginPath(secret string) string { return "/login#" + secret }

// NewLink makes a login link and returns its secret, which is kept nowhere: the
// database has its SHA-256. What is out of its bounds is a 422.
func NewLink(ctx context.Context, q model.Querier, now coltype.Time, in LinkIn) (string, Link, error) {
	if items := in.faults(now); len(items) > 0 {
		return "", Link{}, fault.Invalid(items...)
	}
	scopes, err := scopesText(in.Scopes)
	if err != nil {
		return "", Link{}, err
	}
	secret := newSecret(linkPrefix)
	link := Link{
		Hash: hashSecret(secret), OwnerID: in.OwnerID, Name: in.Name, Scopes: scopes,
		SessionSeconds: int64(in.Session / time.Second), CreatedAt: now, ExpiresAt: now.Add(in.Life),
	}
	if err := q.LoginLinkInsert(ctx, link); err != nil {
		return "", Link{}, fmt.Errorf("keep login link: %w", err)
	}
	return secret, link, nil
}

func (in LinkIn) faults(now coltype.Time) []fault.Item {
	items := TokenIn{Name: in.Name, Scopes: in.Scopes}.faults(now)
	if in.Life < MinLinkLife || in.Life > MaxLinkLife {
		items = append(items, fault.Item{Pointer: "/ttl_seconds", Detail: "must be 60 to 3600"})
	}
	if in.Session < MinSessionLife || in.Session > MaxSessionLife {
		items = append(items, fault.Item{Pointer: "/session_seconds", Detail: "must be 300 to 2592000"})
	}
	return items
}

// Login uses a link up and begins its session. It returns the secret for the
// session's cookie. A link that is malformed, unknown, used or over is the
// fault login_link_invalid, all alike.
func Login(ctx context.Context, q model.Querier, now coltype.Time, secret string) (string, model.Token, error) {
	if !wellFormed(linkPrefix, secret) {
		return "", model.Token{}, fault.LoginLinkInvalid()
	}
	link, err := q.LoginLinkUse(ctx, model.LoginLinkUseParams{Hash: hashSecret(secret), Now: now, Latest: now.Add(MaxLinkLife + store.Apart)})
	if store.NotFound(err) {
		return "", model.Token{}, fault.LoginLinkInvalid()
	}
	if err != nil {
		return "", model.Token{}, fmt.Errorf("use login link: %w", err)
	}
	in := TokenIn{OwnerID: link.OwnerID, Name: link.Name, ExpiresAt: now.Add(time.Duration(link.SessionSeconds) * time.Second)}
	if err := json.Unmarshal(link.Scopes, &in.Scopes); err != nil {
		return "", model.Token{}, fmt.Errorf("read scopes of login link: %w", err)
	}
	return in.issue(ctx, q, now, Session)
}

// EndSession ends the session that p stands for. One that is over, or no longer
// listed, is no fault.
func EndSession(ctx context.Context, q model.Querier, now coltype.Time, p Principal) error {
	return revoke(ctx, q, now, p.OwnerID, p.TokenID)
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

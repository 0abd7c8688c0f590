package control

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// LinkIn is what a login link is for.
type LinkIn struct {
	OwnerID   string
	Name      string   // of who signs in: the session's; as in TokenIn
	Scopes    []string // of the session; known ones, at least one
	Life      time.Duration
	Session   time.Duration // how long the session lasts
	CreatedBy string        // as in TokenIn
}

// LoginPath is where the link with that secret leads, on whatever address the
// server has. What follows the # stays in the browser, so that no proxy, log or
// Referer ever holds it.
func LoginPath(secret string) string { return "/login#" + secret }

// NewLink makes a login link and returns its secret, which is kept nowhere: the
// database has its SHA-256. What is out of its bounds is a 422; the maker bounds
// the link as it does a token, see Issue, and the session too.
func NewLink(ctx context.Context, q model.Querier, now coltype.Time, in LinkIn) (string, model.LoginLink, error) {
	if items := in.faults(now); len(items) > 0 {
		return "", model.LoginLink{}, fault.Invalid(items...)
	}
	by, err := hold(ctx, q, now, in.OwnerID, in.CreatedBy)
	if err == nil {
		err = by.allows(in.Scopes)
	}
	if err != nil {
		return "", model.LoginLink{}, err
	}
	scopes, err := scopesText(in.Scopes)
	if err != nil {
		return "", model.LoginLink{}, err
	}
	secret := newSecret(linkPrefix)
	row := model.LoginLinkInsertParams{
		Hash: hashSecret(secret), OwnerID: in.OwnerID, Name: in.Name, Scopes: scopes,
		SessionSeconds: int64(in.Session / time.Second), CreatedAt: now, ExpiresAt: by.until(now.Add(in.Life)), CreatedBy: by.createdBy(),
	}
	if err := q.LoginLinkInsert(ctx, row); err != nil {
		return "", model.LoginLink{}, fmt.Errorf("keep login link: %w", err)
	}
	return secret, model.LoginLink{
		Hash: row.Hash, OwnerID: row.OwnerID, Name: row.Name, Scopes: row.Scopes,
		SessionSeconds: row.SessionSeconds, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, CreatedBy: row.CreatedBy,
	}, nil
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

// A link is named by the beginning of its hash: 128 bits, so that no two are alike,
// and of no use to sign in.
const (
	linkIDPrefix = "link_"
	linkIDDigits = 32
)

var linkID = regexp.MustCompile(`^link_[0-9a-f]{32}$`)

// LinkID names a link in answers.
func LinkID(l model.LoginLink) string { return linkIDPrefix + linkPosition(l) }

// linkPosition is where a link stands among those made at the same time: no two
// hashes begin alike, so the beginning is as good as the whole.
func linkPosition(l model.LoginLink) string { return l.Hash[:linkIDDigits] }

// RevokeLink ends a link that nobody has used. Revoking twice, or one that is over,
// changes nothing. A used one is a 409: its session is what lives. A link that the
// owner does not have, or that was swept after its end, is a 404; one with scopes
// that in.Scopes lacks is a 403.
func RevokeLink(ctx context.Context, q model.Querier, now coltype.Time, in RevokeIn) (model.LoginLink, error) {
	link, err := getLink(ctx, q, in.OwnerID, in.ID)
	if err != nil {
		return model.LoginLink{}, err
	}
	if err := in.allows(link.Scopes); err != nil {
		return model.LoginLink{}, err
	}
	_, err = q.LoginLinkRevoke(ctx, model.LoginLinkRevokeParams{Hash: link.Hash, OwnerID: in.OwnerID, Now: now})
	if err != nil {
		return model.LoginLink{}, fmt.Errorf("revoke %s: %w", in.ID, err)
	}
	if link, err = getLink(ctx, q, in.OwnerID, in.ID); err == nil && !link.UsedAt.IsZero() {
		err = fault.LinkUsed()
	}
	return link, err
}

func getLink(ctx context.Context, q model.Reader, ownerID, id string) (model.LoginLink, error) {
	const none, behind = "-", "g" // where no hash begins, and behind every hexadecimal digit
	begin := none                 // one that is malformed costs what an unknown one does
	if linkID.MatchString(id) {
		begin = strings.TrimPrefix(id, linkIDPrefix)
	}
	link, err := q.LoginLinkGet(ctx, model.LoginLinkGetParams{OwnerID: ownerID, AfterHash: begin, BeforeHash: begin + behind})
	if store.NotFound(err) {
		return model.LoginLink{}, fault.NotFound()
	}
	if err != nil {
		return model.LoginLink{}, fmt.Errorf("get %s: %w", id, err)
	}
	return link, nil
}

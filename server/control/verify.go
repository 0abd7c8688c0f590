package control

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// A verdict about a token is used for verdictLife: a revoked token works for at
// most that long, on every replica. For its last second one request looks the
// token up anew while the others go on, so that a busy token never sends a
// crowd to the database.
const (
	verdictLife  = 5 * time.Second
	refreshAfter = 4 * time.Second

	// endedLife outlives every verdict from before a revocation, also one whose
	// look-up was slow.
	endedLife = time.Minute

	// lastUsedEvery is how often flushLastUsed should run.
	lastUsedEvery = time.Minute

	// Guesses have a cache of their own: they cannot push known tokens out.
	knownSize, unknownSize = 4096, 1024
)

// Verifier knows whose a token is.
type Verifier struct {
	store *store.Store

	mu      sync.Mutex
	known   verdicts
	unknown verdicts
	used    map[string]coltype.Time // token id → last seen, since the last flush
	ended   map[string]coltype.Time // token id → when this replica revoked it
}

// NewVerifier is a Verifier that asks s.
func NewVerifier(s *store.Store) *Verifier {
	return &Verifier{
		store: s,
		known: verdicts{size: knownSize, by: map[string]*verdict{}}, unknown: verdicts{size: unknownSize, by: map[string]*verdict{}},
		used: map[string]coltype.Time{}, ended: map[string]coltype.Time{},
	}
}

// verdict is what is known about a token: row is nil if there is no such token.
type verdict struct {
	row       *model.TokenGetByHashRow
	principal Principal
	at        coltype.Time // when it was looked up
	asked     bool         // somebody is looking it up anew
}

// Verify is the owner and the scopes of a bearer token. A token that is
// malformed, unknown, expired, revoked or a session's is a fault.Unauthorized,
// all alike. Verdicts are cached for up to 5 s. While the database is away it is
// a 503.
func (v *Verifier) Verify(ctx context.Context, token string) (Principal, error) {
	return v.verify(ctx, Bearer, tokenPrefix, token)
}

// VerifySession is Verify for the secret that the cookie of a session holds.
func (v *Verifier) VerifySession(ctx context.Context, secret string) (Principal, error) {
	return v.verify(ctx, Session, sessionPrefix, secret)
}

func (v *Verifier) verify(ctx context.Context, kind, prefix, text string) (Principal, error) {
	if !wellFormed(prefix, text) {
		return Principal{}, fault.Unauthorized()
	}
	now, err := v.store.Time(ctx)
	if err != nil {
		return Principal{}, err
	}
	hash := hashSecret(text)
	found := v.cached(hash, now)
	if found == nil {
		if found, err = v.lookUp(ctx, hash, now); err != nil {
			return Principal{}, err
		}
	}
	if !found.valid(hash, now) || found.row.Kind != kind || !v.note(found.row.ID, now) {
		return Principal{}, fault.Unauthorized()
	}
	return found.principal, nil
}

// End refuses a token that was revoked from now on, on this replica: others,
// and verdicts that are being looked up, would let it in for up to 5 s more.
func (v *Verifier) End(tokenID string, now coltype.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.ended, func(_ string, at coltype.Time) bool { return now.Sub(at).Abs() > endedLife })
	v.ended[tokenID] = now
}

// valid reports whether the verdict lets its token in at now.
func (d *verdict) valid(hash string, now coltype.Time) bool {
	return d.row != nil &&
		subtle.ConstantTimeCompare([]byte(d.row.Hash), []byte(hash)) == 1 &&
		d.row.RevokedAt.IsZero() &&
		(d.row.ExpiresAt.IsZero() || now.Before(d.row.ExpiresAt)) &&
		(d.row.Kind != Session || !d.row.ExpiresAt.After(now.Add(MaxSessionLife+store.Apart))) // else a wrong clock began it
}

// cached is the verdict to use; nil for the request that is to look it up.
func (v *Verifier) cached(hash string, now coltype.Time) *verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	d := v.known.by[hash]
	if d == nil {
		d = v.unknown.by[hash]
	}
	if d == nil {
		return nil
	}
	// A clock that was corrected backwards must not make a verdict last.
	age := now.Sub(d.at).Abs()
	if age >= verdictLife || (age >= refreshAfter && !d.asked) {
		d.asked = true
		return nil
	}
	return d
}

func (v *Verifier) lookUp(ctx context.Context, hash string, now coltype.Time) (*verdict, error) {
	d := &verdict{at: now}
	row, err := v.store.TokenGetByHash(store.Uncounted(ctx), model.TokenGetByHashParams{Hash: hash})
	switch {
	case store.NotFound(err):
	case err != nil:
		return nil, store.Explain(fmt.Errorf("look up token: %w", err))
	default:
		d.row = &row
		if d.principal, err = principalOf(row); err != nil {
			return nil, err
		}
	}
	v.keep(hash, d)
	return d, nil
}

func principalOf(row model.TokenGetByHashRow) (Principal, error) {
	p := Principal{
		OwnerID: row.OwnerID, OwnerName: row.OwnerName, TokenID: row.ID, TokenName: readableName(row.Name, row.ID),
		Kind: row.Kind, ExpiresAt: row.ExpiresAt,
	}
	if err := json.Unmarshal(row.Scopes, &p.Scopes); err != nil {
		return Principal{}, fmt.Errorf("read scopes of token %s: %w", row.ID, err)
	}
	return p, nil
}

func (v *Verifier) keep(hash string, d *verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if d.row == nil {
		v.unknown.put(hash, d)
		delete(v.known.by, hash)
		return
	}
	v.known.put(hash, d)
	delete(v.unknown.by, hash)
}

// verdicts is a bounded cache.
type verdicts struct {
	size int
	by   map[string]*verdict
}

// put makes room by dropping what has run out, and else any one.
func (c *verdicts) put(hash string, d *verdict) {
	if _, there := c.by[hash]; !there && len(c.by) >= c.size {
		maps.DeleteFunc(c.by, func(_ string, old *verdict) bool { return d.at.Sub(old.at).Abs() >= verdictLife })
		for other := range c.by {
			if len(c.by) < c.size {
				break
			}
			delete(c.by, other)
		}
	}
	c.by[hash] = d
}

// note notes the use of a token, unless this replica revoked it.
func (v *Verifier) note(tokenID string, now coltype.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, ended := v.ended[tokenID]; ended {
		return false
	}
	v.used[tokenID] = now
	return true
}

// flushLastUsed writes when the tokens were last seen, so that no request has
// to. It is a pass of the loop runner; what it cannot write now waits for the
// next one.
func (v *Verifier) flushLastUsed(ctx context.Context, s *store.Store) (int, error) {
	used := v.takeUsed()
	err := s.Tx(ctx, func(q model.Querier) error {
		for _, tokenID := range slices.Sorted(maps.Keys(used)) {
			_, err := q.TokenSetLastUsed(ctx, model.TokenSetLastUsedParams{ID: tokenID, LastUsedAt: used[tokenID]})
			if err != nil {
				return fmt.Errorf("note the use of token %s: %w", tokenID, err)
			}
		}
		return nil
	})
	if err != nil {
		v.giveBack(used)
		return 0, err
	}
	return len(used), nil
}

func (v *Verifier) takeUsed() map[string]coltype.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	used := v.used
	v.used = map[string]coltype.Time{}
	return used
}

func (v *Verifier) giveBack(used map[string]coltype.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for tokenID, at := range used {
		v.used[tokenID] = coltype.Later(at, v.used[tokenID])
	}
}

// Loop is the pass that calls flushLastUsed.
func (v *Verifier) Loop() Loop {
	return Loop{Name: "tokens-last-used", Every: lastUsedEvery, Run: v.flushLastUsed}
}

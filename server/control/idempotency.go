package control

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// How long a key holds its answer.
const (
	DefaultKeyTTL = 24 * time.Hour
	MinKeyTTL     = time.Minute
	MaxKeyTTL     = 30 * 24 * time.Hour
)

// CheckKeyTTL refuses a time to live outside MinKeyTTL and MaxKeyTTL.
func CheckKeyTTL(ttl time.Duration) error {
	if ttl < MinKeyTTL || ttl > MaxKeyTTL {
		return fmt.Errorf("an idempotency key lives for 1m to 720h (30 days), not %s", ttl)
	}
	return nil
}

// Key is an Idempotency-Key in its scope: the owner, the token that sent it,
// and the route. Fingerprint and IfMatch stand for the request: what it asks
// for, and of which version ("" of any).
type Key struct {
	OwnerID     string
	Principal   string
	Route       string
	Key         string
	Fingerprint string
	IfMatch     string
}

// Kept is an answer that a key holds.
type Kept struct {
	Status int
	Body   string
	ETag   string // "" without one
}

// reserveTries bounds how often Reserve begins anew because the record went,
// or was taken, under its hands.
const reserveTries = 3

// Reserve takes the key in the transaction of the effect, so that the two
// commit together: a crash leaves neither. If the key was taken before, it
// returns the answer kept for the same request, or the fault
// idempotency_key_reused. A record of ttl or older counts for nothing, whether
// the sweep has removed it or not: the key is taken anew. A request under the
// key that is still running is waited for as long as the store waits for locks
// (2 s), then the fault is idempotency_in_flight.
func Reserve(ctx context.Context, q model.Querier, now coltype.Time, ttl time.Duration, k Key) (*Kept, error) {
	for range reserveTries {
		kept, done, err := reserve(ctx, q, now, now.Add(-ttl), k)
		switch {
		case store.LockTimeout(err):
			return nil, fault.IdempotencyInFlight().Because(err)
		case err != nil || done:
			return kept, err
		}
	}
	return nil, fault.IdempotencyInFlight()
}

// reserve is one try. It is not done if somebody came between two statements:
// a sweep removed the record, or another request took it over.
func reserve(ctx context.Context, q model.Querier, now, cutoff coltype.Time, k Key) (kept *Kept, done bool, err error) {
	n, err := q.IdempotencyKeyInsert(ctx, model.IdempotencyKeyInsertParams{
		OwnerID: k.OwnerID, Principal: k.Principal, Route: k.Route, Key: k.Key,
		Fingerprint: k.Fingerprint, IfMatch: k.IfMatch, Now: now,
	})
	if err != nil {
		return nil, false, fmt.Errorf("reserve idempotency key: %w", err)
	}
	if n == 1 {
		return nil, true, nil
	}
	row, err := q.IdempotencyKeyGet(ctx, getParams(k))
	switch {
	case store.NotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read idempotency key: %w", err)
	case !expired(row, cutoff):
		kept, err = answerOf(row, k)
		return kept, true, err
	}
	n, err = q.IdempotencyKeyTakeOver(ctx, model.IdempotencyKeyTakeOverParams{
		Fingerprint: k.Fingerprint, IfMatch: k.IfMatch, Now: now,
		OwnerID: k.OwnerID, Principal: k.Principal, Route: k.Route, Key: k.Key, Cutoff: cutoff,
	})
	if err != nil {
		return nil, false, fmt.Errorf("take over idempotency key: %w", err)
	}
	return nil, n == 1, nil
}

// Peek is the answer that the key holds for this request; nil if it holds none.
func Peek(ctx context.Context, q model.Reader, now coltype.Time, ttl time.Duration, k Key) (*Kept, error) {
	row, err := q.IdempotencyKeyGet(ctx, getParams(k))
	switch {
	case store.NotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read idempotency key: %w", err)
	case expired(row, now.Add(-ttl)):
		return nil, nil
	}
	return answerOf(row, k)
}

func getParams(k Key) model.IdempotencyKeyGetParams {
	return model.IdempotencyKeyGetParams{OwnerID: k.OwnerID, Principal: k.Principal, Route: k.Route, Key: k.Key}
}

// expired reports whether a record was kept at cutoff or before. One without a
// date was kept by a release that wrote none; its time runs from the sweep that
// dates it.
func expired(row model.IdempotencyKeyGetRow, cutoff coltype.Time) bool {
	return !row.CreatedAt.IsZero() && !row.CreatedAt.After(cutoff)
}

// answerOf is the answer of a record if it was kept for the request of k. A
// record of the release before does not tell the If-Match of its request: it
// stands for all of them, as it did there.
func answerOf(row model.IdempotencyKeyGetRow, k Key) (*Kept, error) {
	if row.Fingerprint != k.Fingerprint || row.IfMatch != nil && *row.IfMatch != k.IfMatch {
		return nil, fault.IdempotencyKeyReused()
	}
	kept := &Kept{Status: int(row.Status), Body: row.Body}
	if row.Etag != nil {
		kept.ETag = *row.Etag
	}
	return kept, nil
}

// Keep stores the answer in the transaction that reserved the key.
func Keep(ctx context.Context, q model.Querier, k Key, answer Kept) error {
	set := model.IdempotencyKeySetAnswerParams{
		Status: int64(answer.Status), Body: answer.Body,
		OwnerID: k.OwnerID, Principal: k.Principal, Route: k.Route, Key: k.Key,
	}
	if answer.ETag != "" {
		set.Etag = &answer.ETag
	}
	n, err := q.IdempotencyKeySetAnswer(ctx, set)
	if err != nil {
		return fmt.Errorf("keep the answer of an idempotency key: %w", err)
	}
	if n != 1 {
		return fmt.Errorf("keep the answer of an idempotency key: %d rows", n)
	}
	return nil
}

package control

import (
	"context"
	"fmt"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

// Key is an Idempotency-Key in its scope: the owner, the token that sent it,
// and the route. Fingerprint stands for the whole request.
type Key struct {
	OwnerID     string
	Principal   string
	Route       string
	Key         string
	Fingerprint string
}

// Kept is an answer that a key holds.
type Kept struct {
	Status int
	Body   string
}

// Reserve takes the key in the transaction of the effect, so that the two
// commit together: a crash leaves neither. If the key was taken before, it
// returns the answer kept for the same request, or the fault
// idempotency_key_reused. A first request that is still running is waited for
// as long as the store waits for locks (2 s), then the fault is
// idempotency_in_flight.
func Reserve(ctx context.Context, q model.Querier, k Key) (*Kept, error) {
	n, err := q.IdempotencyKeyInsert(ctx, model.IdempotencyKeyInsertParams{
		OwnerID:     k.OwnerID,
		Principal:   k.Principal,
		Route:       k.Route,
		Key:         k.Key,
		Fingerprint: k.Fingerprint,
	})
	switch {
	case store.LockTimeout(err):
		return nil, fault.IdempotencyInFlight().Because(err)
	case err != nil:
		return nil, fmt.Errorf("reserve idempotency key: %w", err)
	case n == 1:
		return nil, nil
	}
	kept, err := Peek(ctx, q, k)
	if err == nil && kept == nil {
		// The row went between the two statements; a repeat finds the key free.
		return nil, fault.IdempotencyInFlight()
	}
	return kept, err
}

// Peek is the answer that the key holds for this request; nil if it holds none.
func Peek(ctx context.Context, q model.Reader, k Key) (*Kept, error) {
	row, err := q.IdempotencyKeyGet(ctx, model.IdempotencyKeyGetParams{
		OwnerID:   k.OwnerID,
		Principal: k.Principal,
		Route:     k.Route,
		Key:       k.Key,
	})
	switch {
	case store.NotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read idempotency key: %w", err)
	case row.Fingerprint != k.Fingerprint:
		return nil, fault.IdempotencyKeyReused()
	}
	return &Kept{Status: int(row.Status), Body: row.Body}, nil
}

// Keep stores the answer in the transaction that reserved the key.
func Keep(ctx context.Context, q model.Querier, k Key, answer Kept) error {
	n, err := q.IdempotencyKeySetAnswer(ctx, model.IdempotencyKeySetAnswerParams{
		Status:    int64(answer.Status),
		Body:      answer.Body,
		OwnerID:   k.OwnerID,
		Principal: k.Principal,
		Route:     k.Route,
		Key:       k.Key,
	})
	if err != nil {
		return fmt.Errorf("keep the answer of an idempotency key: %w", err)
	}
	if n != 1 {
		return fmt.Errorf("keep the answer of an idempotency key: %d rows", n)
	}
	return nil
}

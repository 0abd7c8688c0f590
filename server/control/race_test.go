package control_test

import (
	"context"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// between lets something happen behind one statement of a transaction, once.
type between struct {
	model.Querier
	inserted, read func()
}

func once(fn *func()) {
	if do := *fn; do != nil {
		*fn = nil
		do()
	}
}

func (b *between) IdempotencyKeyInsert(ctx context.Context, arg model.IdempotencyKeyInsertParams) (int64, error) {
	n, err := b.Querier.IdempotencyKeyInsert(ctx, arg)
	once(&b.inserted)
	return n, err
}

func (b *between) IdempotencyKeyGet(ctx context.Context, arg model.IdempotencyKeyGetParams) (model.IdempotencyKeyGetRow, error) {
	row, err := b.Querier.IdempotencyKeyGet(ctx, arg)
	once(&b.read)
	return row, err
}

// On PostgreSQL somebody may come between any two statements of a reservation.
// SQLite has one writer, so nobody does.
func TestWhoComesBetweenLeavesAReplayOrAFreshRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		meddle func(k *keeper) *between
		answer string // "" is a fresh run
	}{
		"another request takes the record over after it was read": {func(k *keeper) *between {
			return &between{read: func() { k.wants(k.key("stale1"), "theirs", "theirs") }}
		}, "theirs"},
		"another request takes it over before it is read": {func(k *keeper) *between {
			return &between{inserted: func() { k.wants(k.key("stale1"), "theirs", "theirs") }}
		}, "theirs"},
		"a sweep removes it after it was read": {func(k *keeper) *between {
			return &between{read: func() { k.sweep(1) }}
		}, ""},
		"a sweep removes it before it is read": {func(k *keeper) *between {
			return &between{inserted: func() { k.sweep(1) }}
		}, ""},
		"a sweep removes it, and another request takes the key": {func(k *keeper) *between {
			return &between{read: func() { k.sweep(1); k.wants(k.key("stale1"), "theirs", "theirs") }}
		}, "theirs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t, dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)}))
			k.plant("stale", 1, dbtest.T0)
			k.clock.Advance(keyTTL)
			b := tt.meddle(k)
			var got string
			err := k.s.Tx(t.Context(), func(q model.Querier) error {
				b.Querier = q
				kept, err := control.Reserve(t.Context(), b, k.clock.Now(), keyTTL, k.key("stale1"))
				if kept != nil {
					got = kept.Body
				}
				return err
			})
			if err != nil || got != tt.answer {
				t.Errorf("%q, %v; want %q", got, err, tt.answer)
			}
		})
	}
}

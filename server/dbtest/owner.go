package dbtest

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/id"
	"github.com/stint-run/stint/server/store"
)

// Owner makes an owner with its rows for the built-in kinds. Its name begins
// with prefix and is no other owner's: tests share a database.
func Owner(t *testing.T, s *store.Store, prefix string) model.Owner {
	t.Helper()
	name := prefix + "-" + strings.ToLower(rand.Text()[:10])
	owner := model.Owner{ID: id.New("own"), Name: name, CreatedAt: T0}
	err := s.Tx(t.Context(), func(q model.Querier) error { return insertOwner(t.Context(), q, owner) })
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

// insertOwner does what control.CreateOwner does, which this package cannot
// import without barring itself from control's own tests; a test there
// compares the two.
func insertOwner(ctx context.Context, q model.Querier, owner model.Owner) error {
	if _, err := q.OwnerInsert(ctx, owner); err != nil {
		return err
	}
	for _, kind := range []string{"discover", "implement", "review", "sync"} {
		_, err := q.KindInsert(ctx, model.KindInsertParams{
			OwnerID: owner.ID, Name: kind, LeaseSeconds: 60, MaxAttempts: 5,
			BackoffBaseSeconds: 5, BackoffCapSeconds: 3600, CreatedAt: owner.CreatedAt,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Fixture is what most tests of operations begin with: an owner of the test's
// own, under a time that stands still until it is moved.
type Fixture struct {
	*testing.T
	Store *store.Store
	Owner string // the owner's id
	Now   coltype.Time
}

// NewFixture makes an owner at T0.
func NewFixture(t *testing.T, s *store.Store) Fixture {
	t.Helper()
	return Fixture{T: t, Store: s, Owner: Owner(t, s, "ada").ID, Now: T0}
}

// Pass moves the time.
func (f *Fixture) Pass(by time.Duration) { f.Now = f.Now.Add(by) }

// Try runs fn in one transaction.
func (f *Fixture) Try(fn func(q model.Querier) error) error { return f.Store.Tx(f.Context(), fn) }

// Tx is Try for what must succeed.
func (f *Fixture) Tx(fn func(q model.Querier) error) {
	f.Helper()
	if err := f.Try(fn); err != nil {
		f.Fatal(err)
	}
}

package dbtest

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/store"
)

// Owner makes an owner with its rows for the built-in kinds. Its name begins
// with prefix and is no other owner's: tests share a database.
func Owner(t *testing.T, s *store.Store, prefix string) model.Owner {
	t.Helper()
	name := prefix + "-" + strings.ToLower(rand.Text()[:10])
	var owner model.Owner
	err := s.Tx(t.Context(), func(q model.Querier) (err error) {
		owner, _, err = control.CreateOwner(t.Context(), q, T0, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return owner
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

// EachOf makes the two functions by which the tests of a package begin, for a
// fixture of its own: each runs a test with a fixture on each engine, in
// parallel with all others; eachWhole does in a database without other owners.
func EachOf[F any](fixture func(*testing.T, *store.Store) F) (each, eachWhole func(t *testing.T, fn func(f F))) {
	on := func(run func(*testing.T, func(*testing.T, *store.Store))) func(*testing.T, func(F)) {
		return func(t *testing.T, fn func(f F)) {
			t.Helper()
			t.Parallel()
			run(t, func(t *testing.T, s *store.Store) { fn(fixture(t, s)) })
		}
	}
	return on(Each), on(EachWhole)
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

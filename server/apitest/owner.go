package apitest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/store"
)

// Token makes a token of an owner, and the owner if there is none.
func Token(t testing.TB, s *store.Store, owner string, scopes ...string) (token string) {
	t.Helper()
	err := s.Tx(t.Context(), func(q model.Querier) error {
		o, _, err := control.CreateOwner(t.Context(), q, s.Now(), owner)
		if err != nil {
			return err
		}
		token, _, err = control.Issue(t.Context(), q, s.Now(), control.TokenIn{OwnerID: o.ID, Name: owner + "'s", Scopes: scopes})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

var serial atomic.Int64

// Unique is a name that no other test of this run uses.
func Unique(prefix string) string {
	return fmt.Sprintf("%s-%d", prefix, serial.Add(1))
}

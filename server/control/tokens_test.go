package control_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

func issue(t *testing.T, s *store.Store, in control.TokenIn) (text string, row model.Token) {
	t.Helper()
	err := s.Tx(t.Context(), func(q model.Querier) (err error) {
		text, row, err = control.Issue(t.Context(), q, dbtest.T0, in)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text, row
}

// admitted checks whether a token lets its bearer in.
func admitted(t *testing.T, v *control.Verifier, token string, want bool) control.Principal {
	t.Helper()
	p, err := v.Verify(t.Context(), token)
	var f *fault.Fault
	refused := errors.As(err, &f) && f.Code == "unauthorized"
	if (err == nil) != want || (err != nil) != refused {
		t.Errorf("token: got %v, want admitted %v", err, want)
	}
	if f != nil && len(token) > len("stint_") && strings.Contains(f.Error(), token) {
		t.Errorf("the fault repeats the token: %v", f)
	}
	return p
}

func TestTokenIsItsOwnersAndIsNotStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		owner := dbtest.Owner(t, s, "ada")
		text, row := issue(t, s, control.TokenIn{
			OwnerID: owner.ID, Name: "laptop", Scopes: []string{"jobs:work", "jobs:read", "jobs:read"},
		})
		if !regexp.MustCompile(`^stint_[0-9A-Za-z]{33}$`).MatchString(text) {
			t.Errorf("the token %q has another form", text)
		}
		p := admitted(t, control.NewVerifier(s), text, true)
		if p.OwnerID != owner.ID || p.OwnerName != owner.Name || p.TokenID != row.ID || p.TokenName != "laptop" ||
			!slices.Equal(p.Scopes, []string{"jobs:read", "jobs:work"}) {
			t.Errorf("the principal is %+v", p)
		}
		kept, err := s.TokenGet(t.Context(), model.TokenGetParams{ID: row.ID, OwnerID: owner.ID})
		if err != nil || kept.Hash != row.Hash || len(kept.Hash) != 64 {
			t.Errorf("kept as %+v, %v", kept, err)
		}
		n := dbtest.Get[int](t, s, "select count(*) from tokens where name || hash || id like $1", "%"+text[6:]+"%")
		if n != 0 {
			t.Error("the token's text is stored")
		}
	})
}

// SEC-03: nothing but the exact token lets anybody in.
func TestNearlyATokenIsNone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		owner := dbtest.Owner(t, s, "ada")
		text, row := issue(t, s, control.TokenIn{OwnerID: owner.ID, Name: "laptop", Scopes: []string{"admin"}})
		other, _ := issue(t, s, control.TokenIn{OwnerID: owner.ID, Name: "other", Scopes: []string{"admin"}})
		v := control.NewVerifier(s)
		ctx, stats := store.WithStats(t.Context())
		for _, token := range []string{
			"", " ", "stint_", text[:len(text)-1], text + "a", text + " ", text + "\x00", " " + text,
			strings.ToUpper(text), strings.Replace(text, "stint_", "STINT_", 1), row.Hash, row.ID,
			text[:20] + swap(text[20]) + text[21:], strings.Repeat("a", 1<<16),
		} {
			admitted(t, v, token, false)
			_, _ = v.Verify(ctx, token)
		}
		if n := stats.Statements(); n != 0 {
			t.Errorf("%d statements were counted", n)
		}
		admitted(t, v, text, true)
		admitted(t, v, other, true)
	})
}

func swap(c byte) string {
	if c == 'a' {
		return "b"
	}
	return "a"
}

func TestTokenEndsWhenItExpires(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		clock, owner := dbtest.Freeze(s), dbtest.Owner(t, s, "ada")
		text, _ := issue(t, s, control.TokenIn{
			OwnerID: owner.ID, Name: "short", Scopes: []string{"admin"}, ExpiresAt: dbtest.T0.Add(time.Second),
		})
		v := control.NewVerifier(s)
		clock.Advance(time.Second - time.Microsecond)
		admitted(t, v, text, true)
		clock.Advance(time.Microsecond) // cached or not
		admitted(t, v, text, false)
		admitted(t, control.NewVerifier(s), text, false)
	})
}

func TestRevokedTokenWorksForAtMostFiveSeconds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		clock, owner := dbtest.Freeze(s), dbtest.Owner(t, s, "ada")
		text, row := issue(t, s, control.TokenIn{OwnerID: owner.ID, Name: "lost", Scopes: []string{"admin"}})
		v := control.NewVerifier(s)
		admitted(t, v, text, true)
		err := s.Tx(t.Context(), func(q model.Querier) error {
			_, err := control.Revoke(t.Context(), q, dbtest.T0, control.RevokeIn{OwnerID: owner.ID, ID: row.ID, Scopes: []string{"admin"}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		admitted(t, control.NewVerifier(s), text, false)
		clock.Advance(4*time.Second - time.Microsecond)
		admitted(t, v, text, true)
		clock.Advance(time.Second + time.Microsecond)
		admitted(t, v, text, false)
	})
}

func TestUnknownTokenIsRememberedButNotForLong(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		clock, owner := dbtest.Freeze(s), dbtest.Owner(t, s, "ada")
		text, row := issue(t, s, control.TokenIn{OwnerID: owner.ID, Name: "back", Scopes: []string{"admin"}})
		v := control.NewVerifier(s)
		dbtest.SQL(t, s, "update tokens set hash = 'x' || hash where id = $1", row.ID)
		admitted(t, v, text, false)
		dbtest.SQL(t, s, "update tokens set hash = substr(hash, 2) where id = $1", row.ID)
		admitted(t, v, text, false)
		clock.Advance(5 * time.Second)
		admitted(t, v, text, true)
	})
}

func TestCachesOfTokensAreBounded(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)})
	dbtest.Freeze(s)
	owner := dbtest.Owner(t, s, "ada")
	text, _ := issue(t, s, control.TokenIn{OwnerID: owner.ID, Name: "known", Scopes: []string{"admin"}})
	v := control.NewVerifier(s)
	admitted(t, v, text, true)
	for range 1100 {
		admitted(t, v, control.NewTokenForTest(), false)
	}
	if known, unknown := control.CachedForTest(v); known != 1 || unknown != 1024 {
		t.Errorf("%d known and %d unknown tokens are cached, want 1 and 1024", known, unknown)
	}
}

func TestTokensAreVerifiedInParallel(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		owner := dbtest.Owner(t, s, "ada")
		text, _ := issue(t, s, control.TokenIn{OwnerID: owner.ID, Name: "busy", Scopes: []string{"admin"}})
		v := control.NewVerifier(s)
		var wg sync.WaitGroup
		for range 32 {
			wg.Go(func() { admitted(t, v, text, true) })
		}
		wg.Wait()
	})
}

func TestLastUseIsWrittenByThePassOnly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := t.Context()
		clock, owner := dbtest.Freeze(s), dbtest.Owner(t, s, "ada")
		text, row := issue(t, s, control.TokenIn{OwnerID: owner.ID, Name: "laptop", Scopes: []string{"admin"}})
		v := control.NewVerifier(s)
		used := func() coltype.Time {
			t.Helper()
			kept, err := s.TokenGet(ctx, model.TokenGetParams{ID: row.ID, OwnerID: owner.ID})
			if err != nil {
				t.Fatal(err)
			}
			return kept.LastUsedAt
		}
		admitted(t, v, text, true)
		clock.Advance(time.Second)
		admitted(t, v, text, true)
		if at := used(); !at.IsZero() {
			t.Errorf("a request wrote %v", at)
		}
		for _, want := range []int{1, 0} {
			if n, err := v.Loop().Run(ctx, s); err != nil || n != want {
				t.Errorf("flushed %d, %v; want %d", n, err, want)
			}
		}
		if at := used(); !at.Equal(clock.Now()) {
			t.Errorf("last used at %v, want %v", at, clock.Now())
		}
	})
}

func TestUseThatCouldNotBeWrittenWaitsForTheNextPass(t *testing.T) {
	t.Parallel()
	s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.SQLite)})
	owner := dbtest.Owner(t, s, "ada")
	text, _ := issue(t, s, control.TokenIn{OwnerID: owner.ID, Name: "laptop", Scopes: []string{"admin"}})
	v := control.NewVerifier(s)
	admitted(t, v, text, true)
	gone := dbtest.Open(t, store.Config{URL: dbtest.Empty(t, store.SQLite)})
	if _, err := v.Loop().Run(t.Context(), gone); err == nil {
		t.Fatal("a database without tables took the use of a token")
	}
	if n, err := v.Loop().Run(t.Context(), s); err != nil || n != 1 {
		t.Errorf("flushed %d, %v; want 1", n, err)
	}
}

func TestTokenWithFaultsIsRefusedNamingEach(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		owner := dbtest.Owner(t, s, "ada")
		err := s.Tx(t.Context(), func(q model.Querier) error {
			_, _, err := control.Issue(t.Context(), q, dbtest.T0, control.TokenIn{OwnerID: owner.ID, ExpiresAt: dbtest.T0})
			return err
		})
		var f *fault.Fault
		if !errors.As(err, &f) || f.Status != 422 || len(f.Errors) != 3 {
			t.Errorf("got %v, want a 422 with 3 faults", err)
		}
	})
}

func TestTokensDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 2000 {
		seen[control.NewTokenForTest()] = true
	}
	if len(seen) != 2000 {
		t.Errorf("%d of 2000 tokens differ", len(seen))
	}
}

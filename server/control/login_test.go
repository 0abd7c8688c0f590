package control_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/fault"
	"github.com/stint-run/stint/server/store"
)

func newLink(t *testing.T, s *store.Store, in control.LinkIn) (secret string, err error) {
	t.Helper()
	err = s.Tx(t.Context(), func(q model.Querier) (err error) {
		secret, _, err = control.NewLink(t.Context(), q, dbtest.T0, in)
		return err
	})
	return secret, err
}

func login(t *testing.T, s *store.Store, now coltype.Time, secret string) (cookie string, token model.Token, err error) {
	t.Helper()
	err = s.Tx(t.Context(), func(q model.Querier) (err error) {
		cookie, token, err = control.Login(t.Context(), q, now, secret)
		return err
	})
	return cookie, token, err
}

func code(err error) string {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.Code
	}
	return ""
}

func TestLinkIsUsedOnceBeforeItsEnd(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		owner := dbtest.Owner(t, s, "ada")
		in := control.LinkIn{OwnerID: owner.ID, Name: "ada", Scopes: []string{"jobs:read", "explore"}, Life: time.Minute, Session: time.Hour}
		for name, tt := range map[string]struct {
			after time.Duration
			works bool
		}{"at once": {0, true}, "at the end": {time.Minute - time.Microsecond, true}, "after it": {time.Minute, false},
			"made by a clock an hour ahead": {-time.Hour, true}, "by one that was wrong": {-time.Hour - time.Microsecond, false}} {
			secret, err := newLink(t, s, in)
			if err != nil {
				t.Fatal(err)
			}
			now := dbtest.T0.Add(tt.after)
			cookie, token, err := login(t, s, now, secret)
			if (err == nil) != tt.works || err != nil && code(err) != "login_link_invalid" {
				t.Errorf("%s: %v", name, err)
			}
			if _, _, err := login(t, s, now, secret); code(err) != "login_link_invalid" {
				t.Errorf("%s, again: %v", name, err)
			}
			if !tt.works {
				continue
			}
			s.SetClock(func() coltype.Time { return now })
			p, err := control.NewVerifier(s).VerifySession(t.Context(), cookie)
			if err != nil || p.TokenID != token.ID || p.Kind != control.Session || p.TokenName != "ada" ||
				!slices.Equal(p.Scopes, []string{"explore", "jobs:read"}) || !p.ExpiresAt.Equal(now.Add(time.Hour)) {
				t.Errorf("%s: the session is %+v, %v", name, p, err)
			}
			if strings.Contains(token.Hash, cookie) || strings.Contains(cookie, token.Hash) {
				t.Error("the secret is kept")
			}
		}
	})
}

// TestEndedSessionIsRefusedOnEveryReplica: only the row tells the others.
func TestEndedSessionIsRefusedOnEveryReplica(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		in := control.LinkIn{OwnerID: dbtest.Owner(t, s, "ada").ID, Name: "ada", Scopes: []string{"admin"}, Life: time.Minute, Session: time.Hour}
		session := func() (cookie string, token model.Token) {
			secret, err := newLink(t, s, in)
			if err == nil {
				cookie, token, err = login(t, s, dbtest.T0, secret)
			}
			if err != nil {
				t.Fatal(err)
			}
			return cookie, token
		}
		ended, row := session()
		other, _ := session()
		for _, id := range []string{row.ID, row.ID, "tok_unlisted"} { // one that is over is no fault
			err := s.Tx(t.Context(), func(q model.Querier) error {
				return control.EndSession(t.Context(), q, dbtest.T0, control.Principal{OwnerID: in.OwnerID, TokenID: id})
			})
			if err != nil {
				t.Errorf("end %s: %v", id, err)
			}
		}
		replica := control.NewVerifier(s)
		if _, err := replica.VerifySession(t.Context(), ended); code(err) != "unauthorized" {
			t.Errorf("the ended session: %v", err)
		}
		if _, err := replica.VerifySession(t.Context(), other); err != nil {
			t.Errorf("another session: %v", err)
		}
	})
}

func TestLinkHasBounds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		good := control.LinkIn{OwnerID: dbtest.Owner(t, s, "ada").ID, Name: "ada", Scopes: []string{"admin"}, Life: time.Minute, Session: 5 * time.Minute}
		for name, change := range map[string]func(in *control.LinkIn){
			"no name":        func(in *control.LinkIn) { in.Name = "" },
			"a long name":    func(in *control.LinkIn) { in.Name = strings.Repeat("x", 256) },
			"no scope":       func(in *control.LinkIn) { in.Scopes = nil },
			"a short life":   func(in *control.LinkIn) { in.Life = time.Minute - 1 },
			"a long life":    func(in *control.LinkIn) { in.Life = time.Hour + 1 },
			"a short length": func(in *control.LinkIn) { in.Session = 5*time.Minute - 1 },
			"a long length":  func(in *control.LinkIn) { in.Session = 30*24*time.Hour + 1 },
		} {
			in := good
			change(&in)
			if _, err := newLink(t, s, in); code(err) != "validation_failed" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := newLink(t, s, good); err != nil {
			t.Error(err)
		}
	})
}

// TestEndedTokenIsRefusedWhateverWasLookedUp: a verdict from before the end, in
// the cache or on its way into it, lets nobody in any more.
func TestEndedTokenIsRefusedWhateverWasLookedUp(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		dbtest.Freeze(s)
		v := control.NewVerifier(s)
		text, row := issue(t, s, control.TokenIn{OwnerID: dbtest.Owner(t, s, "ada").ID, Name: "x", Scopes: []string{"admin"}})
		admitted(t, v, text, true)
		v.End(row.ID, dbtest.T0)
		admitted(t, v, text, false) // though the row still says otherwise, as an old verdict would
		s.SetClock(func() coltype.Time { return dbtest.T0.Add(10 * time.Second) })
		admitted(t, v, text, false)
	})
}

func TestLinksAndSessionsThatAreOverAreRemoved(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		owner := dbtest.Owner(t, s, "ada")
		in := control.LinkIn{OwnerID: owner.ID, Name: "ada", Scopes: []string{"admin"}, Life: time.Minute, Session: time.Hour}
		issue(t, s, control.TokenIn{OwnerID: owner.ID, Name: "kept", Scopes: []string{"admin"}, ExpiresAt: dbtest.T0.Add(time.Second)})
		secret, err := newLink(t, s, in)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := login(t, s, dbtest.T0, secret); err != nil {
			t.Fatal(err)
		}
		in.Life = time.Hour
		if _, err := newLink(t, s, in); err != nil {
			t.Fatal(err)
		}
		sweep := func(pass func(control.Loop) bool, now coltype.Time) (n int) {
			t.Helper()
			err := s.Tx(t.Context(), func(q model.Querier) (err error) {
				for _, l := range control.LoginLoops() {
					if pass(l) {
						n, err = l.Pass(t.Context(), q, now)
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		named := func(name string) func(control.Loop) bool { return func(l control.Loop) bool { return l.Name == name } }
		for _, tt := range []struct {
			loop  string
			after time.Duration
			n     int
		}{
			{"login-links", time.Minute, 0}, {"login-links", 2 * time.Minute, 1}, {"login-links", 2 * time.Minute, 0}, {"login-links", 2 * time.Hour, 1},
			{"sessions", 30 * 24 * time.Hour, 0}, {"sessions", 31 * 24 * time.Hour, 1}, {"sessions", 32 * 24 * time.Hour, 0},
		} {
			if n := sweep(named(tt.loop), dbtest.T0.Add(tt.after)); n != tt.n {
				t.Errorf("%s after %v: removed %d, want %d", tt.loop, tt.after, n, tt.n)
			}
		}
		if n := dbtest.Get[int](t, s, "select count(*) from tokens where kind = 'bearer'"); n != 1 {
			t.Errorf("%d tokens are left", n)
		}
	})
}

// A session that a wrong clock began does not last until that clock's time.
func TestSessionThatEndsTooLateIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		in := control.LinkIn{OwnerID: dbtest.Owner(t, s, "ada").ID, Name: "ada", Scopes: []string{"admin"}, Life: time.Minute, Session: control.MaxSessionLife}
		secret, err := newLink(t, s, in)
		if err != nil {
			t.Fatal(err)
		}
		cookie, _, err := login(t, s, dbtest.T0, secret)
		if err != nil {
			t.Fatal(err)
		}
		for behind, works := range map[time.Duration]bool{0: true, store.Apart: true, store.Apart + time.Microsecond: false} {
			s.SetClock(func() coltype.Time { return dbtest.T0.Add(-behind) })
			if _, err := control.NewVerifier(s).VerifySession(t.Context(), cookie); (err == nil) != works {
				t.Errorf("seen %v before it began: %v", behind, err)
			}
		}
	})
}

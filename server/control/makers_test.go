package control_test

import (
	"errors"
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
	"github.com/stint-run/stint/server/keyset"
	"github.com/stint-run/stint/server/store"
)

// family is an owner whose tokens make each other.
type family struct {
	*testing.T
	s     *store.Store
	owner string
	clock *dbtest.Clock
}

func eachFamily(t *testing.T, fn func(f family)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, s *store.Store) {
		fn(family{t, s, dbtest.Owner(t, s, "ada").ID, dbtest.Freeze(s)})
	})
}

// token is one that by makes, "" the command line.
func (f family) token(by, name string, scopes ...string) model.Token {
	f.Helper()
	if len(scopes) == 0 {
		scopes = []string{"admin"}
	}
	_, row := issue(f.T, f.s, control.TokenIn{OwnerID: f.owner, Name: name, Scopes: scopes, CreatedBy: by})
	return row
}

// link is the secret of a link that by makes.
func (f family) link(by, name string) string {
	f.Helper()
	secret, err := newLink(f.T, f.s, control.LinkIn{
		OwnerID: f.owner, Name: name, Scopes: []string{"admin"}, Life: time.Minute, Session: time.Hour, CreatedBy: by,
	})
	if err != nil {
		f.Fatal(err)
	}
	return secret
}

func (f family) session(secret string) model.Token {
	f.Helper()
	_, row, err := login(f.T, f.s, dbtest.T0, secret)
	if err != nil {
		f.Fatal(err)
	}
	return row
}

// revoke ends a token by one with those scopes.
func (f family) revoke(id string, withMade bool, scopes ...string) (got control.Revoked, err error) {
	err = f.s.Tx(f.Context(), func(q model.Querier) (err error) {
		got, err = control.Revoke(f.Context(), q, f.clock.Now(), control.RevokeIn{OwnerID: f.owner, ID: id, WithMade: withMade, Scopes: scopes})
		return err
	})
	return got, err
}

// live are the names of the tokens, sessions and links that work, in order.
func (f family) live() string {
	f.Helper()
	tokens, _, err := control.Tokens.Page(f.Context(), f.s, f.owner, keyset.Top(), 1000)
	links, _, linksErr := control.Links.Page(f.Context(), f.s, f.owner, keyset.Top(), 1000)
	if err := errors.Join(err, linksErr); err != nil {
		f.Fatal(err)
	}
	var names []string
	for _, row := range tokens {
		if row.RevokedAt.IsZero() {
			names = append(names, row.Name)
		}
	}
	for _, row := range links {
		if row.UsedAt.IsZero() && row.RevokedAt.IsZero() {
			names = append(names, row.Name+" (link)")
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func TestWhatATokenMakesNeverExceedsIt(t *testing.T) {
	eachFamily(t, func(f family) {
		end := dbtest.T0.Add(30 * time.Minute)
		_, by := issue(f.T, f.s, control.TokenIn{OwnerID: f.owner, Name: "by", Scopes: []string{"tokens:write", "jobs:read"}, ExpiresAt: end})
		for name, tt := range map[string]struct{ asked, want coltype.Time }{
			"never":   {coltype.Time{}, end},
			"later":   {end.Add(time.Second), end},
			"earlier": {end.Add(-time.Second), end.Add(-time.Second)},
		} {
			_, row := issue(f.T, f.s, control.TokenIn{OwnerID: f.owner, Name: name, Scopes: []string{"jobs:read"}, ExpiresAt: tt.asked, CreatedBy: by.ID})
			if !row.ExpiresAt.Equal(tt.want) || row.CreatedBy == nil || *row.CreatedBy != by.ID {
				f.Errorf("%s: %+v", name, row)
			}
		}
		in := control.LinkIn{OwnerID: f.owner, Name: "link", Scopes: []string{"jobs:read"}, Life: time.Hour, Session: time.Hour, CreatedBy: by.ID}
		secret, err := newLink(f.T, f.s, in)
		if err != nil {
			f.Fatal(err)
		}
		if links, _, err := control.Links.Page(f.Context(), f.s, f.owner, keyset.Top(), 9); err != nil || len(links) != 1 || !links[0].ExpiresAt.Equal(end) {
			f.Errorf("the link: %+v, %v", links, err)
		}
		if row := f.session(secret); !row.ExpiresAt.Equal(end) || row.CreatedBy == nil || *row.CreatedBy != by.ID {
			f.Errorf("the session: %+v", row)
		}
		in.Scopes = []string{"repos:read", "jobs:read", "explore"}
		_, linkErr := newLink(f.T, f.s, in)
		tokenErr := f.s.Tx(f.Context(), func(q model.Querier) error {
			_, _, err := control.Issue(f.Context(), q, dbtest.T0, control.TokenIn{OwnerID: f.owner, Name: "more", Scopes: in.Scopes, CreatedBy: by.ID})
			return err
		})
		for _, err := range []error{linkErr, tokenErr} {
			if refused, ok := errors.AsType[*fault.Fault](err); !ok || refused.Status != 403 || !strings.Contains(refused.Detail, "repos:read, explore") {
				f.Errorf("scopes that the maker lacks: %v", err)
			}
		}
	})
}

// TestLinkDiesWithItsMaker: whatever ends the maker, and also if that is all that is
// written, as by a replica of the release before.
func TestLinkDiesWithItsMaker(t *testing.T) {
	eachFamily(t, func(f family) {
		for name, end := range map[string]func(by string){
			"revoked":                   func(by string) { _, _ = f.revoke(by, false, "admin") },
			"revoked by an older build": func(by string) { dbtest.SQL(f.T, f.s, "update tokens set revoked_at = created_at where id = $1", by) },
			"its end moved to the past": func(by string) { dbtest.SQL(f.T, f.s, "update tokens set expires_at = created_at where id = $1", by) },
			"removed by whoever sweeps": func(by string) { dbtest.SQL(f.T, f.s, "delete from tokens where id = $1", by) },
		} {
			by := f.token("", "by")
			secret := f.link(by.ID, "link")
			end(by.ID)
			if _, _, err := login(f.T, f.s, dbtest.T0, secret); code(err) != "login_link_invalid" {
				f.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestRevocationEndsWhatATokenMade(t *testing.T) {
	eachFamily(t, func(f family) {
		f.token("", "other")
		root := f.token("", "root")
		child := f.token(root.ID, "child")
		grandchild := f.token(child.ID, "grandchild")
		session := f.session(f.link(grandchild.ID, "session"))
		f.token(session.ID, "leaf")
		f.link(session.ID, "leaf")
		f.link(root.ID, "root")
		f.link("", "other")
		if _, err := f.revoke(child.ID, false, "admin"); err != nil { // it stands between the others
			f.Error(err)
		}
		for _, tt := range []struct {
			withMade bool
			made     control.Made
			live     string
		}{
			{false, control.Made{Links: 1}, "grandchild, leaf, leaf (link), other, other (link), session"},
			{false, control.Made{}, "grandchild, leaf, leaf (link), other, other (link), session"},
			{true, control.Made{Tokens: 3, Links: 1}, "other, other (link)"},
		} {
			f.clock.Advance(time.Second)
			got, err := f.revoke(root.ID, tt.withMade, "admin")
			if err != nil || got.Made != tt.made || got.Token.RevokedAt.IsZero() {
				f.Errorf("with what it made, %v: %+v, %v, want %+v", tt.withMade, got, err, tt.made)
			}
			if live := f.live(); live != tt.live {
				f.Errorf("with what it made, %v: there live %s, want %s", tt.withMade, live, tt.live)
			}
			if tt.withMade && len(got.Ended) != 5 { // this replica refuses each at once
				f.Errorf("ended: %v", got.Ended)
			}
		}
	})
}

// TestRevocationEndsWhereTokensMadeEachOther, as only SQL can have it.
func TestRevocationEndsWhereTokensMadeEachOther(t *testing.T) {
	eachFamily(t, func(f family) {
		root := f.token("", "root")
		child := f.token(root.ID, "child")
		f.token(child.ID, "leaf")
		dbtest.SQL(f.T, f.s, "update tokens set created_by = $1 where id = $2", child.ID, root.ID)
		for _, want := range []control.Made{{Tokens: 2}, {}} {
			f.clock.Advance(time.Second)
			got, err := f.revoke(root.ID, true, "admin")
			if err != nil || got.Made != want || len(got.Ended) != 3 {
				f.Errorf("%+v, %v, want %+v", got, err, want)
			}
		}
	})
}

func TestNobodyRevokesWhatExceedsThem(t *testing.T) {
	eachFamily(t, func(f family) {
		admin, reader := f.token("", "admin"), f.token("", "reader", "jobs:read")
		if _, err := f.revoke(admin.ID, true, "tokens:write", "jobs:read"); code(err) != "forbidden" {
			f.Errorf("an admin's token: %v", err)
		}
		if _, err := f.revoke(reader.ID, true, "tokens:write"); code(err) != "forbidden" || !strings.Contains(err.Error(), "jobs:read") {
			f.Errorf("a reader's token: %v", err)
		}
		revokeLink := func(id string, scopes ...string) error {
			return f.s.Tx(f.Context(), func(q model.Querier) error {
				_, err := control.RevokeLink(f.Context(), q, dbtest.T0, control.RevokeIn{OwnerID: f.owner, ID: id, Scopes: scopes})
				return err
			})
		}
		f.link("", "admin")
		links, _, err := control.Links.Page(f.Context(), f.s, f.owner, keyset.Top(), 9)
		if err != nil || len(links) != 1 {
			f.Fatal(links, err)
		}
		id := control.LinkID(links[0])
		if err := revokeLink(id, "tokens:write"); code(err) != "forbidden" {
			f.Errorf("an admin's link: %v", err)
		}
		if live := f.live(); live != "admin, admin (link), reader" {
			f.Errorf("there live %s", live)
		}
		for range 2 {
			if err := revokeLink(id, "admin"); err != nil {
				f.Errorf("an admin revokes the link: %v", err)
			}
		}
		for _, unknown := range []string{id[:len(id)-1], id + "0", "link_" + strings.Repeat("0", 32), admin.ID, ""} {
			if err := revokeLink(unknown, "admin"); code(err) != "not_found" {
				f.Errorf("%s: %v", unknown, err)
			}
		}
	})
}

func TestRevokedLinkBeginsNoSession(t *testing.T) {
	eachFamily(t, func(f family) {
		secret := f.link("", "ada")
		links, _, err := control.Links.Page(f.Context(), f.s, f.owner, keyset.Top(), 9)
		if err != nil || len(links) != 1 {
			f.Fatal(links, err)
		}
		err = f.s.Tx(f.Context(), func(q model.Querier) error {
			_, err := control.RevokeLink(f.Context(), q, dbtest.T0, control.RevokeIn{OwnerID: f.owner, ID: control.LinkID(links[0]), Scopes: []string{"admin"}})
			return err
		})
		if err != nil {
			f.Fatal(err)
		}
		if _, _, err := login(f.T, f.s, dbtest.T0, secret); code(err) != "login_link_invalid" {
			f.Error(err)
		}
	})
}

func TestUsedLinkIsNotRevokedInSilence(t *testing.T) {
	eachFamily(t, func(f family) {
		f.session(f.link("", "ada"))
		links, _, err := control.Links.Page(f.Context(), f.s, f.owner, keyset.Top(), 9)
		if err != nil || len(links) != 1 {
			f.Fatal(links, err)
		}
		err = f.s.Tx(f.Context(), func(q model.Querier) error {
			_, err := control.RevokeLink(f.Context(), q, dbtest.T0, control.RevokeIn{OwnerID: f.owner, ID: control.LinkID(links[0]), Scopes: []string{"admin"}})
			return err
		})
		if code(err) != "state_conflict" {
			f.Error(err)
		}
	})
}

// TestNothingIsMadeBehindARevocation: whatever was made while a token was revoked
// with all that it made is either refused or revoked.
func TestNothingIsMadeBehindARevocation(t *testing.T) {
	eachFamily(t, func(f family) {
		for range 8 {
			root := f.token("", "root")
			child := f.token(root.ID, "child")
			secrets := []string{f.link(root.ID, "used"), f.link(child.ID, "used")}
			var wg sync.WaitGroup
			begin := make(chan struct{})
			at := func(do func() error) {
				wg.Go(func() {
					<-begin
					if err := do(); err != nil && code(err) != "unauthorized" && code(err) != "login_link_invalid" {
						f.Error(err)
					}
				})
			}
			for _, by := range []string{root.ID, child.ID, root.ID, child.ID} {
				at(func() error { return f.makeBoth(by) })
			}
			for _, secret := range secrets {
				at(func() error { _, _, err := login(f.T, f.s, dbtest.T0, secret); return err })
			}
			at(func() error { _, err := f.revoke(root.ID, true, "admin"); return err })
			close(begin)
			wg.Wait()
			if live := f.live(); live != "" {
				f.Fatalf("there live %s", live)
			}
		}
	})
}

// makeBoth makes a token and a link in one transaction.
func (f family) makeBoth(by string) error {
	return f.s.Tx(f.Context(), func(q model.Querier) error {
		_, made, err := control.Issue(f.Context(), q, dbtest.T0, control.TokenIn{OwnerID: f.owner, Name: "made", Scopes: []string{"admin"}, CreatedBy: by})
		if err != nil {
			return err
		}
		_, _, err = control.NewLink(f.Context(), q, dbtest.T0, control.LinkIn{
			OwnerID: f.owner, Name: "made", Scopes: []string{"admin"}, Life: time.Minute, Session: time.Hour, CreatedBy: made.ID,
		})
		return err
	})
}

package control_test

import (
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/apitest"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// TestRevocationLocksTokensByID, as every writer of several tokens does: two that
// lock the same ones in another order wait for each other. SQLite has one writer.
func TestRevocationLocksTokensByID(t *testing.T) {
	t.Parallel()
	for name, makers := range map[string]func(root, low, high string) (ofLow, ofHigh string){
		"one token made both":       func(root, _, _ string) (string, string) { return root, root },
		"the later made the former": func(root, _, high string) (string, string) { return high, root },
		"the former made the later": func(root, low, _ string) (string, string) { return root, low },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := dbtest.Open(t, store.Config{URL: dbtest.Whole(t, store.Postgres)})
			f := family{t, s, dbtest.Owner(t, s, "ada").ID, dbtest.Freeze(s)}
			root, low, high := f.token("", "root").ID, f.token("", "low").ID, f.token("", "high").ID
			ofLow, ofHigh := makers(root, low, high)
			dbtest.SQL(t, s, "update tokens set created_by = $1 where id = $2", ofHigh, high)
			dbtest.SQL(t, s, "update tokens set created_by = $1 where id = $2", ofLow, low) // the last in its index
			f.meetsWriterOf(low, high, root)
			if live := f.live(); live != "" {
				t.Errorf("there live %s", live)
			}
		})
	}
}

// meetsWriterOf revokes root while somebody who holds low is about to write high.
// Whoever is the victim of a deadlock runs again.
func (f family) meetsWriterOf(low, high, root string) {
	f.Helper()
	runs, revoked := 0, make(chan error, 1)
	used := func(q model.Querier, id string) error {
		_, err := q.TokenSetLastUsed(f.Context(), model.TokenSetLastUsedParams{ID: id, LastUsedAt: f.clock.Now()})
		return err
	}
	err := f.s.Tx(f.Context(), func(q model.Querier) error {
		if runs++; runs > 1 {
			return nil
		}
		if err := used(q, low); err != nil {
			return err
		}
		go func() { revoked <- f.revokeOnce(root) }()
		apitest.Await(f.T, "the revocation waits for a lock", f.lockAwaited)
		return used(q, high)
	})
	if err != nil || runs != 1 {
		f.Fatalf("the writer ran %d times, %v", runs, err)
	}
	if err := <-revoked; err != nil {
		f.Error(err)
	}
}

// revokeOnce ends a token with all that it made; to run again is an error.
func (f family) revokeOnce(id string) error {
	runs := 0
	return f.s.Tx(f.Context(), func(q model.Querier) error {
		if runs++; runs > 1 {
			f.Error("the revocation ran again")
		}
		_, err := control.Revoke(f.Context(), q, f.clock.Now(), control.RevokeIn{OwnerID: f.owner, ID: id, WithMade: true, Scopes: []string{"admin"}})
		return err
	})
}

// lockAwaited reports whether a session of the database waits for a lock.
func (f family) lockAwaited() bool {
	return dbtest.Get[int](f.T, f.s, "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") > 0
}

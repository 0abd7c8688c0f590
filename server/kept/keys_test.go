package kept

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/schema"
	"github.com/stint-run/stint/schema/coltype"
	"github.com/stint-run/stint/server/control"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

const keptTTL = time.Hour

// undated is the release that kept answers without a date.
const undated = "0001"

// TestKeptAnswersOutliveTheUpgradeAndThenExpire: what the release before wrote,
// and what its replicas write while they still run, is replayed until one ttl
// after the sweep that dates it.
func TestKeptAnswersOutliveTheUpgradeAndThenExpire(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(dbtest.Root(t), "schema", "testdata", undated)
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			url := restore(t, engine, dir)
			if _, err := schema.Migrate(t.Context(), schema.Options{URL: url}); err != nil {
				t.Fatal(err)
			}
			s := dbtest.Open(t, store.Config{URL: url})
			owner, err := s.OwnerGetByName(t.Context(), model.OwnerGetByNameParams{Name: keptOwner})
			if err != nil {
				t.Fatal(err)
			}
			before := control.Key{OwnerID: owner.ID, Principal: "tok", Route: "POST /v1/jobs", Key: "k", Fingerprint: "f", IfMatch: `"v1"`}
			late := before
			late.Key = "late"
			clock := dbtest.Freeze(s)
			clock.Advance(keptFor)
			replays(t, s, clock.Now(), before, `{"kept":true}`)
			swept(t, s, 1)
			keepAsBefore(t, s, dir, late)
			clock.Advance(keptTTL - time.Second)
			replays(t, s, clock.Now(), before, `{"kept":true}`)
			swept(t, s, 1) // dates the late one
			clock.Advance(time.Second)
			replays(t, s, clock.Now(), before, "")
			replays(t, s, clock.Now(), late, `{"late":true}`)
			swept(t, s, 1)
			clock.Advance(keptTTL)
			swept(t, s, 1)
			if n := dbtest.Get[int](t, s, "select count(*) from idempotency_keys"); n != 0 {
				t.Errorf("%d records are left", n)
			}
		})
	}
}

// replays wants the kept answer; "" wants none.
func replays(t *testing.T, s *store.Store, now coltype.Time, k control.Key, body string) {
	t.Helper()
	var want *control.Kept
	if body != "" {
		want = &control.Kept{Status: 201, Body: body}
	}
	kept, err := control.Peek(t.Context(), s, now, keptTTL, k)
	if diff := cmp.Diff(want, kept); err != nil || diff != "" {
		t.Errorf("%s: %v: %s", k.Key, err, diff)
	}
}

func swept(t *testing.T, s *store.Store, changed int) {
	t.Helper()
	if n, err := control.SweepKeys(t.Context(), s, keptTTL); err != nil || n != changed {
		t.Errorf("the sweep changed %d, %v; want %d", n, err, changed)
	}
}

// keepAsBefore keeps an answer by the statements of that release, as a replica
// of it does that still runs.
func keepAsBefore(t *testing.T, s *store.Store, dir string, k control.Key) {
	t.Helper()
	var statements map[string]map[string]string
	readJSON(t, filepath.Join(dir, "statements.json"), &statements)
	own := statements[s.Engine()]
	scope := []any{k.OwnerID, k.Principal, k.Route, k.Key}
	dbtest.SQL(t, s, strings.TrimSpace(own["IdempotencyKeyInsert"]), append(scope[:4:4], k.Fingerprint)...)
	dbtest.SQL(t, s, strings.TrimSpace(own["IdempotencyKeySetAnswer"]), append([]any{201, `{"late":true}`}, scope...)...)
	var fingerprint, body string
	var status int
	row := dbtest.DB(t, s).QueryRowContext(t.Context(), own["IdempotencyKeyGet"], scope...)
	if err := row.Scan(&fingerprint, &status, &body); err != nil || fingerprint != k.Fingerprint || status != 201 {
		t.Errorf("as that release reads it: %s, %d, %s, %v", fingerprint, status, body, err)
	}
}

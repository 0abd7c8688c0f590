package ops_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
	"github.com/stint-run/stint/server/web"
)

type overview struct {
	Since         time.Time
	Failed        web.Count
	Overdue       web.Count
	OpenProposals web.Count `json:"open_proposals"`
}

// plant writes n jobs in a state, whose end or lease is age before T0.
func plant(t *testing.T, s *store.Store, owner, state string, n int, age time.Duration) {
	t.Helper()
	numbers, at := "generate_series(1, $3::int) i", "to_timestamp($4::float8 / 1000000)"
	if s.Engine() == store.SQLite {
		numbers, at = "(with recursive n(i) as (select 1 union all select i + 1 from n where i < $3) select i from n)", "$4"
	}
	columns, values := "finished_at", "AT"
	if state == "claimed" {
		columns, values = "lease_token, claimed_by, lease_expires_at", "'t', 'w' || cast(i % 2 as text), AT"
	}
	text := `insert into jobs (id, owner_id, kind, state, payload, priority, run_at, attempt, max_attempts, created_at, updated_at, ` + columns + `)
		select cast($1 as text) || cast(i as text), cast($2 as text), 'k', '` + state + `', '{}', 1, AT, 1, 5, AT, AT, ` + values + ` from ` + numbers
	dbtest.SQL(t, s, strings.ReplaceAll(text, "AT", at), fmt.Sprint(owner, state, age), owner, n, dbtest.T0.Add(-age).UnixMicro())
}

func TestOverviewCountsWhatNeedsAPersonUpToItsCap(t *testing.T) {
	each(t, func(t *testing.T, c caller) {
		dbtest.Freeze(c.store)
		other := dbtest.Owner(t, c.store, "bob").ID
		get := func(query string) (o overview) {
			t.Helper()
			c.do("GET", "/v1/overview"+query, "", 200, &o)
			return o
		}
		if o := get(""); o.Failed != (web.Count{}) || o.OpenProposals != (web.Count{}) || o.Since != dbtest.T0.Add(-24*time.Hour).Time {
			t.Errorf("of nothing: %+v", o)
		}
		plant(t, c.store, c.owner, "failed", 3, time.Hour)
		plant(t, c.store, c.owner, "failed", 2, 48*time.Hour)
		plant(t, c.store, other, "failed", 7, time.Hour)
		plant(t, c.store, c.owner, "claimed", 4, time.Second)
		plant(t, c.store, c.owner, "claimed", 5, -time.Minute)
		if o := get(""); o.Failed.Value != 3 || o.Failed.AtLeast || o.Overdue.Value != 4 || o.Overdue.AtLeast {
			t.Errorf("of a day: %+v", o)
		}
		since := "?since=" + url.QueryEscape(dbtest.T0.Add(-72*time.Hour).Format(time.RFC3339Nano))
		if o := get(since); o.Failed.Value != 5 {
			t.Errorf("of three days: %+v", o)
		}
		plant(t, c.store, c.owner, "failed", 1000, time.Minute)
		plant(t, c.store, c.owner, "claimed", 2000, -time.Hour)
		if o := get(""); o.Failed != (web.Count{Value: 1000, AtLeast: true}) || !o.Overdue.AtLeast {
			t.Errorf("of many: %+v", o)
		}
	})
}

func TestOverviewRefusesATimeItDoesNotLookBackTo(t *testing.T) {
	each(t, func(t *testing.T, c caller) {
		dbtest.Freeze(c.store)
		for _, at := range []time.Time{dbtest.T0.Add(time.Second).Time, dbtest.T0.Add(-91 * 24 * time.Hour).Time} {
			var p web.Problem
			c.do("GET", "/v1/overview?since="+url.QueryEscape(at.Format(time.RFC3339)), "", 400, &p)
			if len(p.Errors) != 1 || p.Errors[0].Pointer != "/since" {
				t.Errorf("%v: %+v", at, p)
			}
		}
	})
}

func TestWorkersAreListedByNameWithWhatTheyHold(t *testing.T) {
	each(t, func(t *testing.T, c caller) {
		for _, name := range []string{"w1", "w0", "w2"} {
			dbtest.SQL(t, c.store, "insert into workers (owner_id, name, first_seen_at, last_seen_at) select id, $2, created_at, created_at from owners where id = $1", c.owner, name)
		}
		plant(t, c.store, c.owner, "claimed", 5, time.Second)
		var got []string
		for target := "/v1/workers?limit=2"; target != ""; {
			var page struct {
				Data []struct {
					Name    string
					Claimed web.Count `json:"claimed_jobs"`
				}
				NextCursor *string `json:"next_cursor"`
			}
			c.do("GET", target, "", 200, &page)
			for _, w := range page.Data {
				got = append(got, fmt.Sprint(w.Name, " ", w.Claimed.Value))
			}
			target = ""
			if page.NextCursor != nil {
				target = "/v1/workers?limit=2&cursor=" + *page.NextCursor
			}
		}
		if fmt.Sprint(got) != "[w0 2 w1 3 w2 0]" {
			t.Errorf("%q", got)
		}
	})
}

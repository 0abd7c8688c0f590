package ops_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// Leases are the instance's: an owner with ops:read sees them all.
func TestLeasesAreListedByNameWhoeverHoldsThem(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		c := call(t, s)
		now := c.store.Now()
		var want []string
		for i, ends := range []time.Duration{time.Minute, -time.Microsecond, time.Hour} {
			name := fmt.Sprint("work-", i)
			err := c.store.Tx(t.Context(), func(q model.Querier) error {
				_, err := q.LeaseTake(t.Context(), model.LeaseTakeParams{Name: name, Holder: "web1-7-x", TakenAt: now.Add(-time.Hour), ExpiresAt: now.Add(ends)})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%s web1-7-x 1 %v %v %v", name, now.Add(-time.Hour), now.Add(ends), ends > 0))
		}
		var got []string
		for target := "/v1/leases?limit=2"; target != ""; {
			var page struct {
				Data []struct {
					Name, Holder string
					Term         int
					TakenAt      string `json:"taken_at"`
					ExpiresAt    string `json:"expires_at"`
					Held         bool
				}
				NextCursor *string `json:"next_cursor"`
			}
			c.do("GET", target, "", 200, &page)
			for _, l := range page.Data {
				got = append(got, fmt.Sprintf("%s %s %d %s %s %v", l.Name, l.Holder, l.Term, l.TakenAt, l.ExpiresAt, l.Held))
			}
			target = ""
			if page.NextCursor != nil {
				target = "/v1/leases?limit=2&cursor=" + *page.NextCursor
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

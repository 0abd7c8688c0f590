package store_test

import (
	"strings"
	"testing"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// Sessions tell the release of their process by their name.
func TestSessionsOfAnOlderReplicaAreSeen(t *testing.T) {
	t.Parallel()
	for _, own := range []string{"", "of-ours", strings.Repeat("n", 80)} {
		t.Run("named "+own, func(t *testing.T) {
			t.Parallel()
			url := dbtest.Whole(t, store.Postgres)
			if own != "" {
				url += "&application_name=" + own
			}
			s := dbtest.Open(t, store.Config{URL: url})
			base := own[:min(len(own), 58)]
			if own == "" {
				base = "stint"
			}
			other, err := dbtest.DB(t, s).Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]bool{
				base: true, base + "/0010": true, base + "/0012": true, base + "/0013": false, base + "/0101": false,
				base + "x/0010": false, "psql": false, "": false,
			} {
				if _, err := other.ExecContext(t.Context(), "select set_config('application_name', $1, false)", name); err != nil {
					t.Fatal(err)
				}
				var older bool
				err := s.Tx(t.Context(), func(q model.Querier) (err error) {
					older, err = store.OlderReplica(t.Context(), q, "0013")
					return err
				})
				if err != nil || older != want {
					t.Errorf("a session named %q: older %v, %v", name, older, err)
				}
			}
		})
	}
}

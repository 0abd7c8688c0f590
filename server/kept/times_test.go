package kept

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// checkedTimes are the columns that the migrations after the release bound, by
// table, and rows of the release that have a time in each.
var checkedTimes = []struct{ table, columns, where string }{
	{"jobs", "lease_expires_at created_at updated_at", "state = 'claimed'"},
	{"jobs", "created_at updated_at finished_at", "state = 'succeeded'"},
	{"runs", "created_at started_at", "status = 'running'"},
	{"runs", "created_at started_at completed_at", "status <> 'running'"},
	{"idempotency_keys", "created_at", "created_at is not null"},
	{"tokens", "created_at", "kind = 'bearer'"},
	{"login_links", "created_at expires_at", "used_at is null"},
	{"leases", "taken_at expires_at", "term >= 1"},
}

// A time that an earlier release let in does not stop the upgrade: it becomes the
// nearest time that may be. Afterwards none is let in.
func TestTimesOutOfBoundsAreMendedByTheUpgrade(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		for side, stored := range map[string]string{"before": "-infinity", "after": "infinity"} {
			t.Run(engine+"/"+side, func(t *testing.T) {
				t.Parallel()
				url := restore(t, engine, filepath.Join(dbtest.Root(t), "schema", "testdata", "0010"))
				s := dbtest.Open(t, store.Config{URL: url})
				bad, want := "'"+stored+"'", map[string]string{"before": "0002-01-01 00:00:00+00", "after": "9999-12-31 23:59:59.999999+00"}[side]
				if engine == store.SQLite {
					bad = map[string]string{"before": "-9223372036854775808", "after": "9223372036854775807"}[side]
					want = map[string]string{"before": "-62104060800000000", "after": "253402300799999999"}[side]
				}
				spoiled := func(table, columns, where string) string {
					return "update " + table + " set " + strings.Join(each(columns, "%s = "+bad), ", ") + " where " + where
				}
				for _, c := range checkedTimes {
					dbtest.SQL(t, s, spoiled(c.table, c.columns, c.where))
				}
				upgrade(t, url)
				for _, c := range checkedTimes {
					mended := strings.Join(each(c.columns, "%s = '"+want+"'"), " and ")
					if engine == store.SQLite {
						mended = strings.Join(each(c.columns, "%s = "+want), " and ")
					}
					if n := dbtest.Get[int](t, s, "select count(*) from "+c.table+" where "+c.where+" and "+mended); n == 0 {
						t.Errorf("%s where %s: no row has the bound in %s", c.table, c.where, c.columns)
					}
					if _, err := dbtest.DB(t, s).ExecContext(t.Context(), spoiled(c.table, c.columns, c.where)); err == nil {
						t.Errorf("%s takes %s in %s after the upgrade", c.table, bad, c.columns)
					}
				}
			})
		}
	}
}

// each is a text for every column.
func each(columns, text string) []string {
	var out []string
	for _, c := range strings.Fields(columns) {
		out = append(out, fmt.Sprintf(text, c))
	}
	return slices.Clip(out)
}

package plans

import (
	"maps"
	"regexp"
	"testing"
	"time"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// timesOf are the rows for a CHECK that bounds the times of a row like base.
func timesOf(base record, columns ...string) (pass, fail []record) {
	first, last := maps.Clone(base), maps.Clone(base)
	for _, c := range columns {
		first[c], last[c] = earliest, latest
		fail = append(fail,
			with(base, record{c: earliest.Add(-time.Microsecond)}), with(base, record{c: latest.Add(time.Microsecond)}),
			with(base, record{c: sqlText("'infinity'")}), with(base, record{c: sqlText("'-infinity'")}))
	}
	return []record{first, last}, fail
}

// checkTimes adds to checks what times its tables take.
func checkTimes(table string, base record, columns ...string) {
	name := table + "_times_check"
	c := checks[name]
	pass, fail := timesOf(base, columns...)
	c.table, c.pass, c.fail = table, append(c.pass, pass...), append(c.fail, fail...)
	checks[name] = c
}

func init() {
	checkTimes("jobs", with(claimed, record{"actor": "ada", "acted_at": at}), "lease_expires_at", "cancel_requested_at", "acted_at", "created_at", "updated_at")
	checkTimes("jobs", done, "finished_at")
	checkTimes("runs", ended("failed"), "created_at", "started_at", "completed_at", "deadline_at")
	checkTimes("idempotency_keys", record{}, "created_at")
	checkTimes("tokens", record{}, "created_at", "expires_at", "last_used_at", "revoked_at")
	checkTimes("login_links", record{}, "created_at", "expires_at", "used_at", "revoked_at")
	checkTimes("leases", record{}, "taken_at", "expires_at")
	checkTimes("connectors", record{}, "created_at", "updated_at")
	checkTimes("connector_streams", record{}, "created_at")
	checkTimes("connections", record{"status": "revoked", "revoked_at": at, "actor": "ada", "acted_at": at}, "acted_at", "created_at", "updated_at", "revoked_at")
	checkTimes("connection_tombstones", record{}, "deleted_at")
	checkTimes("connection_removals", record{}, "created_at")
	checkTimes("connection_heads", record{}, "last_ingest_at", "updated_at")
	checkTimes("connection_devices", record{}, "last_accepted_at", "created_at")
	checkTimes("partitions", record{}, "min_sort_at", "max_sort_at", "created_at", "updated_at")
	checkTimes("records", record{}, "emitted_at", "sort_at", "created_at", "updated_at", "deleted_at")
	checkTimes("record_versions", record{}, "emitted_at", "sort_at", "created_at", "superseded_at")
	checkTimes("checkpoints", record{}, "updated_at")
	checkTimes("record_rejections", record{}, "created_at")
	checkTimes("ingest_batches", record{"holder": "h", "lease_expires_at": at}, "lease_expires_at", "created_at", "updated_at")
	checkTimes("ingest_batches", record{"state": "accepted", "answer": "{}", "accepted_at": at}, "accepted_at")
}

// unchecked are the times without a CHECK. What they all have in common: the
// server writes its own time there, nothing waits for them, and a bad one hides
// no other row.
var unchecked = map[string]string{
	"owners.created_at":               "nothing reads it",
	"repos.labels_synced_at":          "nothing reads it yet",
	"repos.created_at":                "only the place of its own row in the list",
	"repos.updated_at":                "only shown",
	"repo_names.replaced_at":          "only the order of names of one repository",
	"job_kinds.paused_at":             "only whether there is one counts",
	"job_kinds.created_at":            "only shown",
	"job_kinds.updated_at":            "only shown",
	"proposals.created_at":            "only the place of its own row in the list",
	"proposals.updated_at":            "only shown",
	"proposals.closed_at":             "only whether there is one counts",
	"proposal_transitions.entered_at": "nothing reads it",
	"workers.first_seen_at":           "only shown",
	"workers.last_seen_at":            "only shown, and the row is forgotten later, or at once",
	"run_logs.created_at":             "only shown",
}

// A new column of a time gets a CHECK, or a reason here.
func TestEachTimeHasACheckOrNeedsNone(t *testing.T) {
	t.Parallel()
	dbtest.EachWhole(t, func(t *testing.T, s *store.Store) {
		text := migrations(t, s.Engine())
		for table, columns := range newCatalog(t, s) {
			for _, c := range columns {
				name := table + "." + c.name
				check := regexp.MustCompile(`constraint ` + table + `_\w+_check check \([^;]*\b` + c.name + ` between`)
				reason := unchecked[name]
				switch found := c.time() && check.MatchString(text); {
				case !c.time():
				case !found && reason == "":
					t.Errorf("%s has no CHECK of its bounds: add one as in schema/%s/*_times.sql, or a reason to unchecked", name, s.Engine())
				case found && reason != "":
					t.Errorf("%s has a CHECK and a reason why not", name)
				}
			}
		}
	})
}

package plans

import (
	"slices"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// moments are what a database may look like when ANALYZE reads it. Its statistics
// are kept until a tenth of a table has changed, and the plans with them, whatever
// other rows there are meanwhile.
var moments = []struct {
	name string
	is   []string // the statements that make it so
}{
	{"all has ended", []string{
		"update jobs set state = 'succeeded', lease_token = null, claimed_by = null, lease_expires_at = null, finished_at = created_at where finished_at is null",
		"update runs set status = 'succeeded', completed_at = created_at where completed_at is null",
		"update proposals set state = 'merged', closed_at = created_at",
		"update connections set status = 'revoked', revoked_at = created_at",
		"update records set deleted_at = created_at",
		"update ingest_batches set state = 'accepted', answer = '{}', accepted_at = created_at",
	}},
	{"one value in each column", []string{
		"update jobs set kind = 'k', key = 'nightly'",
		"update proposals set author = 'agent', stream = 'main', repo_id = (select min(id) from repos)",
		"update connections set connector_id = 'packages'",
		"update records set connection_id = 'connections1', deleted_at = null",
		"update record_rejections set connection_id = 'connections1'",
	}},
	{"a few rows", []string{
		"delete from proposal_transitions", "delete from proposals where created_at > timestamptz 'epoch' + interval '20 seconds'",
		"delete from runs where created_at > timestamptz 'epoch' + interval '40 seconds'", "delete from jobs where created_at > timestamptz 'epoch' + interval '40 seconds'",
		"delete from connections where created_at > timestamptz 'epoch' + interval '40 seconds'",
		"delete from records where created_at > timestamptz 'epoch' + interval '40 seconds'",
		"delete from ingest_batches where created_at > timestamptz 'epoch' + interval '40 seconds'",
		"vacuum full jobs", "vacuum full runs", "vacuum full proposals", "vacuum full connections", "vacuum full records", "vacuum full ingest_batches",
	}},
}

// planAtMoments: no statistics lead to a plan that reads a table, or all of an
// index, where a seek would do.
func planAtMoments(t *testing.T, s *store.Store, all []statement) {
	t.Helper()
	seeking := slices.DeleteFunc(slices.Clone(all), func(st statement) bool { return wholeTables[st.name] })
	for _, moment := range moments {
		for _, sql := range moment.is {
			dbtest.SQL(t, s, sql)
		}
		dbtest.SQL(t, s, "analyze jobs, runs, proposals, connections, records, record_rejections, ingest_batches")
		t.Run(moment.name, func(t *testing.T) {
			pass(t, newGate(t, s), seeking)
			chooseIndexes(t, s, all)
		})
	}
}

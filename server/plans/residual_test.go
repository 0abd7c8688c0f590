package plans

// residual is what a statement may test row by row, as alias.column, though its
// index does not lead with it, each with what bounds the rows.
var residual = map[string]string{
	// No index names lease_expires_at, or heartbeats would not be heap-only
	// updates; the partial index holds claimed jobs only.
	"JobListOverdue": "jobs.lease_expires_at",
	"JobLockOverdue": "j.lease_expires_at",
	// The same of runs of connections: the partial index holds running ones only.
	"RunListOverdue": "runs.lease_expires_at",
	// The attempts of one job, the latest first.
	"RunGetByToken": "runs.token_hash",
}

// advice is the end of every fault of a condition.
const advice = "give the table an index that leads with the columns of every condition (schema/), write a statement of its own for each filter (queries/)," +
	" or, if something else bounds the rows, list the column with the reason in residual (server/plans/residual_test.go)"

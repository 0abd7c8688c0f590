// Package plans holds no code, only tests of what is not written by hand: how
// every generated statement is executed by both engines, that every generated
// accessor runs, and that the schema refuses what it should.
//
// # The plan gate
//
// The gate asks an engine for the plan of every generated statement and refuses
// a sort, a read of a whole table or index, and a condition that is tested row by
// row. PostgreSQL shows such conditions as filters of the node that reads the
// alias, or as index conditions behind a gap in the index's columns. SQLite shows
// neither, so there the gate reads the statement itself: it splits each WHERE and ON
// into conditions, finds the alias that each one
// names (names without an alias by the catalog), and looks for the condition in
// the index seek of that alias: in a term that no other condition has, or in the
// predicate of the partial index. What is left over is tested row by row.
//
// A condition that is left over may pass where it looks at few rows. A seek by
// all columns of a unique index finds one row at most, but that alone is not
// enough: in
//
//	from runs r join jobs j on j.id = r.job_id where r.owner_id = $1 and j.kind = $2
//
// each seek of j finds one job, and the runs of all other kinds are read in vain.
// So everything that the scope reads must be such a seek, or be bounded: by the
// ids of an argument, or by the limit of a sub-select. The ON of a left join
// drops no row of the others, so there the seek of the joined table decides.
//
// PostgreSQL chooses among indexes by its statistics, and a session keeps the plan
// when other rows come. So its plans are asked for under the statistics of several
// moments: see moments_test.go.
//
// What else may filter is listed in residual (residual_test.go), by statement
// and column, with what bounds the rows there.
//
// Sub-selects that share an alias each take one of the seeks of that alias. No
// more can be told from the plan, and no more is needed: if every condition finds
// a term in some such pairing, the plan has no condition left over.
package plans

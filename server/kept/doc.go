// Package kept holds the promise to databases of released versions: each one is
// upgraded to the schema of this build without a row changed, and then works;
// and the statements of that release still prepare on this build's schema, so
// that its replicas run on while a rolling upgrade lasts.
//
// What a release leaves lies in schema/testdata/NNNN, NNNN being its newest
// migration: sqlite.db, postgres.sql, rows.json and statements.json. It is
// recorded once, when the migration is released, by
//
//	make test pkg=./server/kept args='-tags record -run TestRecord'
//
// and never again. The way back to each release is docs/downgrade/NNNN.ENGINE.sql.
package kept

// Package coltype holds the two column types both engines share: Time and
// JSON. It is the only hand-written code that the generated accessors import.
//
// The zero value of each type is SQL NULL, in both directions and on both
// engines: sqlc cannot tell a nullable overridden column from one that is not
// (docs/adr/0003), so NOT NULL constraints in schema/ guard the columns that
// must hold a value.
package coltype

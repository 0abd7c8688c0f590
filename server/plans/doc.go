// Package plans holds no code, only tests of what is not written by hand: how
// every generated statement is executed by both engines, that every generated
// accessor runs, and that the schema refuses what it should.
package plans

package main

import (
	"maps"
	"slices"
	"strings"
)

const packageDoc = `// Package model holds what the accessors of both engines share: their structs,
// and their methods as the interfaces Reader and Querier.
`

// interfaces are the texts of reader.go and querier.go.
func interfaces(pg, lite *accessors) (reader, querier string) {
	var reads, writes strings.Builder
	for _, name := range slices.Sorted(maps.Keys(pg.methods)) {
		m := pg.methods[name]
		into := &writes
		if onlyReads(lex(m.sql, postgres)) && onlyReads(lex(lite.methods[name].sql, sqlite)) {
			into = &reads
		}
		into.WriteString(comment(m.doc) + name + m.signature + "\n")
	}
	reader = interfaceText(pg, packageDoc, "// Reader has the statements that only read.\ntype Reader interface {\n", reads.String())
	querier = interfaceText(pg, "", "// Querier has every statement: those that write or lock need a transaction.\ntype Querier interface {\nReader\n\n", writes.String())
	return reader, querier
}

func interfaceText(acc *accessors, doc, opening, methods string) string {
	body := opening + methods + "}\n"
	return header + doc + "package model\n\n" + modelImports(acc, body) + body
}

// writing are the words that no reading statement holds; the functions change
// state that outlives the statement.
var writing = []string{
	"insert", "update", "delete", "merge", "share", "into", "pg_notify", "nextval", "setval", "set_config",
	"pg_advisory_lock", "pg_advisory_xact_lock", "pg_try_advisory_lock", "pg_try_advisory_xact_lock",
}

// onlyReads reports whether a statement is a select that locks nothing.
func onlyReads(tokens []lexeme) bool {
	if !starts(tokens, "select") && !starts(tokens, "with") {
		return false
	}
	return !slices.ContainsFunc(tokens, func(t lexeme) bool {
		return slices.ContainsFunc(writing, t.is)
	})
}

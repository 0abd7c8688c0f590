package main

import (
	"slices"
	"strconv"
	"strings"
)

// refuse names what sqlc got wrong without a word.
func (acc *accessors) refuse(found *problems) {
	for _, m := range acc.methods {
		at := string(acc.engine) + ": " + m.name
		m.refuseText(at, acc.engine, found)
		m.refuseUnused(at, acc.structs[m.name+"Params"], found)
		acc.refuseTypes(at, slices.Concat(m.params, m.results), m.file, found)
	}
	for _, s := range acc.structs {
		for _, f := range s.fields {
			acc.refuseTypes(string(acc.engine)+": "+s.name+"."+f.name, []string{f.typ}, s.file.name, found)
		}
	}
}

// refuseText reads the SQL as the engine will.
func (m *method) refuseText(at string, d dialect, found *problems) {
	if strings.Contains(m.sql, "/*SLICE:") || m.opaque {
		found.add("%s: sqlc.slice: pass a row set as one JSON text argument", at)
		return
	}
	tokens := lex(m.sql, d)
	if len(tokens) == 0 {
		found.add("%s: makes no call with an SQL text", at)
	}
	for i, t := range tokens {
		switch {
		case t.kind == named:
			found.add("%s: %s was left in the SQL: sqlc lost the argument", at, t.text)
		case t.is("sqlc") && starts(tokens[i+1:], "."):
			found.add("%s: a call of sqlc.%s was left in the SQL", at, tokenText(tokens, i+2))
		case t.is("any") && starts(tokens[i+1:], "(") && len(tokens) > i+2 && tokens[i+2].kind == bound:
			found.add("%s: any(%s) takes one value: write any(cast(@x as text[]))", at, tokens[i+2].text)
		}
	}
	m.refuseNumbers(at, placeholders(tokens), found)
}

func tokenText(tokens []lexeme, i int) string {
	if i < len(tokens) {
		return tokens[i].text
	}
	return ""
}

// refuseNumbers compares the placeholders with the arguments of the call.
func (m *method) refuseNumbers(at string, numbers []int, found *problems) {
	used := map[int]bool{}
	for _, n := range numbers {
		used[n] = true
		if n < 1 || n > len(m.args) {
			found.add("%s: placeholder %d has no argument, the call passes %d", at, n, len(m.args))
		}
	}
	for i, arg := range m.args {
		if !used[i+1] {
			found.add("%s: argument %d (%s) has no placeholder in the SQL", at, i+1, arg)
		}
	}
}

// refuseUnused names the fields of the params struct that never reach the call.
func (m *method) refuseUnused(at string, params *structType, found *problems) {
	if params == nil || m.opaque {
		return
	}
	for _, f := range params.fields {
		if !slices.Contains(m.args, f.name) {
			found.add("%s: field %s.%s never reaches the call", at, params.name, f.name)
		}
	}
}

// placeholders are the argument numbers in order of the text. SQLite gives a
// bare ? one more than the largest number so far.
func placeholders(tokens []lexeme) []int {
	var numbers []int
	largest := 0
	for _, t := range tokens {
		if t.kind != bound {
			continue
		}
		n := largest + 1
		if len(t.text) > 1 {
			n, _ = strconv.Atoi(t.text[1:])
		}
		largest = max(largest, n)
		numbers = append(numbers, n)
	}
	return numbers
}

// coltypePath ends the only import that a shared type may need.
const coltypePath = "/schema/coltype"

// refuseTypes lets through built-in types, sqlc's structs and coltype.
func (acc *accessors) refuseTypes(at string, typs []string, fileName string, found *problems) {
	for _, typ := range typs {
		bare := strings.TrimLeft(typ, "*[]")
		pkg, _, qualified := strings.Cut(bare, ".")
		switch {
		case bare == "interface{}" || bare == "any":
			found.add("%s: sqlc found no type: cast the argument or the column", at)
		case qualified && bare != "context.Context" && !strings.HasSuffix(acc.importPath(fileName, pkg), coltypePath):
			found.add("%s: %s is no shared type: see the overrides in sqlc.yaml", at, typ)
		}
	}
}

func (acc *accessors) importPath(fileName, pkg string) string {
	for _, f := range acc.files {
		if f.name == fileName {
			return f.imports[pkg]
		}
	}
	return ""
}

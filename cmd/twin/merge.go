package main

import (
	"cmp"
	"fmt"
	"strings"
)

// modelsFile is where sqlc writes the structs of tables; those of statements
// stand in the files of their queries.
const modelsFile = "models.go"

// typeNames tells the name of each struct's type in the model. Structs with the
// same fields, types, tags and order are one type there, so that a row of one
// statement is also a row of the other.
//
// The type has the name of a table, else the shortest, else the first in the
// alphabet, and every other name is an alias of it. So code uses the name of its
// own statement, and goes on to compile when a new statement names the type.
func typeNames(structs map[string]*structType) map[string]string {
	first := map[string]*structType{}
	for _, s := range structs {
		if best := first[s.shape()]; best == nil || s.before(best) {
			first[s.shape()] = s
		}
	}
	names := map[string]string{}
	for name, s := range structs {
		names[name] = first[s.shape()].name
	}
	return names
}

// shape is the same text for structs that are one type.
func (s *structType) shape() string {
	var b strings.Builder
	for _, f := range s.fields {
		fmt.Fprintf(&b, "%s %s %s\n", f.name, f.typ, f.tag)
	}
	return b.String()
}

// before reports whether a type that has both names is called s.
func (s *structType) before(other *structType) bool {
	if table := s.file.name == modelsFile; table != (other.file.name == modelsFile) {
		return table
	}
	return cmp.Or(cmp.Compare(len(s.name), len(other.name)), cmp.Compare(s.name, other.name)) < 0
}

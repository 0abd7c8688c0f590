package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEqualStructsHaveOneName has structs as "file: name: field type; field type".
func TestEqualStructsHaveOneName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		structs []string
		want    string // names of types, in the order of structs
	}{
		{"a table before a shorter name", []string{"a.sql.go: Row: ID string; At Time", "models.go: Table: ID string; At Time"}, "Table Table"},
		{"the shortest table", []string{"models.go: Longer: ID string", "models.go: Table: ID string"}, "Table Table"},
		{"the shortest name", []string{"a.sql.go: AllRow: ID string", "b.sql.go: ZRow: ID string"}, "ZRow ZRow"},
		{"the first of the alphabet", []string{"a.sql.go: BRow: ID string", "b.sql.go: ARow: ID string"}, "ARow ARow"},
		{"three", []string{"a.sql.go: ARow: ID string", "a.sql.go: BRow: ID string", "a.sql.go: CRow: ID string"}, "ARow ARow ARow"},
		{"another order", []string{"a.sql.go: ARow: ID string; Max int64", "a.sql.go: BRow: Max int64; ID string"}, "ARow BRow"},
		{"another type", []string{"a.sql.go: ARow: ID string", "a.sql.go: BRow: ID *string"}, "ARow BRow"},
		{"another name", []string{"a.sql.go: ARow: ID string", "a.sql.go: BRow: Key string"}, "ARow BRow"},
		{"another tag", []string{"a.sql.go: ARow: ID string", "a.sql.go: BRow: ID string `json:\"id\"`"}, "ARow BRow"},
		{"a field more", []string{"a.sql.go: ARow: ID string", "a.sql.go: BRow: ID string; Max int64"}, "ARow BRow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			structs := map[string]*structType{}
			var order []string
			for _, text := range tt.structs {
				s := structOf(text)
				structs[s.name] = s
				order = append(order, s.name)
			}
			names := typeNames(structs)
			for i, name := range order {
				order[i] = names[name]
			}
			if diff := cmp.Diff(tt.want, strings.Join(order, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func structOf(text string) *structType {
	parts := strings.Split(text, ": ")
	s := &structType{name: parts[1], file: &file{name: parts[0]}}
	for f := range strings.SplitSeq(parts[2], "; ") {
		words := append(strings.Split(f, " "), "")
		s.fields = append(s.fields, field{name: words[0], typ: words[1], tag: words[2]})
	}
	return s
}

package main

import (
	"maps"
	"slices"
	"strings"
)

// compare names every difference between the two packages.
func compare(pg, lite *accessors, found *problems) {
	for _, name := range union(pg.structs, lite.structs) {
		a, b := pg.structs[name], lite.structs[name]
		if a == nil || b == nil {
			found.add("%s: missing in %s", name, lacking(a == nil))
			continue
		}
		compareStruct(a, b, found)
	}
	for _, name := range union(pg.methods, lite.methods) {
		a, b := pg.methods[name], lite.methods[name]
		if a == nil || b == nil {
			found.add("%s: method missing in %s", name, lacking(a == nil))
			continue
		}
		compareMethod(a, b, found)
	}
}

func compareStruct(a, b *structType, found *problems) {
	if a.file.name != b.file.name {
		found.add("%s: in %s for postgres, in %s for sqlite", a.name, a.file.name, b.file.name)
	}
	compareDoc(a.name, a.doc, b.doc, found)
	left, right := fieldsByName(a), fieldsByName(b)
	for _, f := range a.fields {
		g, ok := right[f.name]
		if !ok {
			found.add("%s.%s: missing in sqlite", a.name, f.name)
			continue
		}
		compareField(a.name+"."+f.name, f, g, found)
	}
	for _, g := range b.fields {
		if _, ok := left[g.name]; !ok {
			found.add("%s.%s: missing in postgres", a.name, g.name)
		}
	}
	if maps.EqualFunc(left, right, func(field, field) bool { return true }) {
		compareOrder(a, b, found)
	}
}

func compareField(at string, f, g field, found *problems) {
	if f.typ != g.typ {
		found.add("%s: %s in postgres, %s in sqlite", at, f.typ, g.typ)
	}
	if f.tag != g.tag {
		found.add("%s: tag %s in postgres, %s in sqlite", at, f.tag, g.tag)
	}
	compareDoc(at, f.doc, g.doc, found)
}

// compareOrder names the first of the same fields that stands elsewhere in b.
func compareOrder(a, b *structType, found *problems) {
	for i, f := range a.fields {
		if g := b.fields[i]; f.name != g.name {
			found.add("%s: field %d is %s in postgres, %s in sqlite: give both the same order", a.name, i+1, f.name, g.name)
			return
		}
	}
}

// compareDoc lets one side have no comment: SQLite keeps none on tables and columns.
func compareDoc(at, a, b string, found *problems) {
	if a != b && a != "" && b != "" {
		found.add("%s: comment differs: %q in postgres, %q in sqlite", at, a, b)
	}
}

func compareMethod(a, b *method, found *problems) {
	if a.doc != b.doc {
		found.add("%s: comment differs: %q in postgres, %q in sqlite", a.name, a.doc, b.doc)
	}
	if x, y := strings.Join(a.params, ", "), strings.Join(b.params, ", "); x != y {
		found.add("%s: takes (%s) in postgres, (%s) in sqlite", a.name, x, y)
	}
	if x, y := strings.Join(a.results, ", "), strings.Join(b.results, ", "); x != y {
		found.add("%s: returns (%s) in postgres, (%s) in sqlite", a.name, x, y)
	}
}

func fieldsByName(s *structType) map[string]field {
	m := map[string]field{}
	for _, f := range s.fields {
		m[f.name] = f
	}
	return m
}

func union[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

func lacking(pgLacks bool) dialect {
	if pgLacks {
		return postgres
	}
	return sqlite
}

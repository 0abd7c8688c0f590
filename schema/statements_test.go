package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatementsAreSplitWhereTheDatabaseWould(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string][]string{
		"":                           nil,
		" ; ;\n-- a; b\n/* ; */":     nil,
		"select 1; select 2":         {"select 1", "select 2"},
		"select ';', \"a;b\", `c;d`": {"select ';', \"a;b\", `c;d`"},
		"select 'it''s;'; x":         {"select 'it''s;'", "x"},
		`select e'\';'; x`:           {`select e'\';'`, "x"},
		`select 'before';x`:          {`select 'before'`, "x"},
		"/* a /* b */ ; */ x; y":     {"x", "y"},
		"do $$ begin; end $$; x":     {"do $$ begin; end $$", "x"},
		"do $a$ $$; $a$; x":          {"do $a$ $$; $a$", "x"},
		"select $1; x":               {"select $1", "x"},
		"a -- b'\n; c":               {"a", "c"},
		"select 'open; x":            {"select 'open; x"},
	} {
		if diff := cmp.Diff(want, statements(sql)); diff != "" {
			t.Errorf("%q: %s", sql, diff)
		}
	}
}

func FuzzStatementsEndsOnAnyText(f *testing.F) {
	f.Add("select 'a;' -- b\n; $x$ ; $x$ /* /* */")
	f.Add("e'\\")
	f.Fuzz(func(t *testing.T, sql string) {
		for _, s := range statements(sql) {
			if s == "" {
				t.Error("an empty statement")
			}
		}
	})
}

func TestTheIndexOfAConcurrentBuildIsKnownByName(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]concurrentIndex{
		"create index concurrently a_b on a (b)":                             {"a_b", "a"},
		"CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS x\n  ON ONLY s.a(b)": {"s.x", "s.a"},
		`create index concurrently "A b" on "T" (c)`:                         {`"A b"`, `"T"`},
		"create index concurrently on a (b)":                                 {},
		"create index a_b on a (b)":                                          {},
	} {
		got, ok := parseConcurrentIndex(sql)
		if got != want || ok != (want.name != "") {
			t.Errorf("%s: %+v, %v", sql, got, ok)
		}
	}
}

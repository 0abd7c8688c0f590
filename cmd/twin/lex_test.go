package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgumentsAreToldFromText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		dialect dialect
		sql     string
		want    []string // placeholders and raw names
	}{
		{"numbers", postgres, "a = $1 and b=$12", []string{"$1", "$12"}},
		{"numbers", sqlite, "a = ?1 and b=?12 and c = ?", []string{"?1", "?12", "?"}},
		{"strings", postgres, `'$1 it''s @x' || $2`, []string{"$2"}},
		{"escape strings", postgres, `e'\' @x' || E'' || $1`, []string{"$1"}},
		{"dollar quotes", postgres, `$$ @a $1 $$ || $q$ $$ @b $q$ || $1`, []string{"$1"}},
		{"quoted names", sqlite, `"a@b" + ` + "`?`" + ` + ?1`, []string{"?1"}},
		{"line comments", sqlite, "?1 -- ?2 @x\n?3", []string{"?1", "?3"}},
		{"nested comments", postgres, "/* /* @a */ $1 */ $2", []string{"$2"}},
		{"comments that do not nest", sqlite, "/* /* @a */ ?1", []string{"?1"}},
		{"raw names", postgres, "a = @x and b =@y_1", []string{"@x", "@y_1"}},
		{"raw names", sqlite, "a = @x, :y, $z", []string{"@x", ":y", "$z"}},
		{"operators", postgres, "a @> b and c ? 'd' and e @@ f and g::text", nil},
		{"open ends", postgres, "a 'b", nil},
		{"open ends", postgres, "a $q$ b @c", nil},
		{"open ends", sqlite, "a /* @b", nil},
	} {
		t.Run(string(tt.dialect)+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, l := range lex(tt.sql, tt.dialect) {
				if l.kind == bound || l.kind == named {
					got = append(got, l.text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOnlySelectsWithoutLocksRead(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]bool{
		"select id from jobs":                                   true,
		"select replace(kind, 'insert', 'delete') from jobs":    true,
		"select id from jobs -- for update":                     true,
		"with x as (select 1) select * from x":                  true,
		"select id from jobs for update":                        false,
		"select id from jobs for no key update":                 false,
		"select id from jobs for share":                         false,
		"with x as (delete from jobs returning id) select 1":    false,
		"with x as (select 1) insert into jobs select * from x": false,
		"select pg_notify('a', 'b')":                            false,
		"select pg_advisory_xact_lock(1)":                       false,
		"update jobs set kind = 'a'":                            false,
		"delete from jobs":                                      false,
		"":                                                      false,
	} {
		if got := onlyReads(lex(sql, postgres)); got != want {
			t.Errorf("onlyReads(%q) = %v", sql, got)
		}
	}
}

// FuzzLex holds that every token is text of the statement, in its order.
func FuzzLex(f *testing.F) {
	for _, sql := range []string{"select @a, 'b' -- c\n", "$q$ $1 $q$ /* /* */", "e'\\'", "?", "ü$ü"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, d := range []dialect{postgres, sqlite} {
			rest := sql
			for _, l := range lex(sql, d) {
				_, after, ok := strings.Cut(rest, l.text)
				if !ok || l.text == "" {
					t.Fatalf("%s: %q is not in %q", d, l.text, rest)
				}
				rest = after
			}
		}
	})
}

func TestStarsStandForColumns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, written, generated, want string }{
		{"alone", "select * from jobs", "select id, kind from jobs", ""},
		{"before a column", "select j.*, 1 as n from jobs j", "select j.id, j.kind, 1 as n from jobs j", ""},
		{"two", "select a.*, b.* from a, b", "select a.id, a.kind, b.id from a, b", ""},
		{"at the end", "delete from jobs returning *", "delete from jobs returning id, kind", ""},
		{"a count", "select count(*) from jobs", "select count(*) from jobs", ""},
		{"quoted columns", "select * from jobs", `select id, "order" from jobs`, ""},
		{"an embedded row", "select sqlc.embed(j) from jobs j", "select j.id, j.kind from jobs j", ""},
		{"another table after it", "select * from jobs", "select id, kind from runs", `"runs" where f has "jobs"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var found problems
			acc := &accessors{engine: postgres, methods: map[string]*method{"Q": {sql: tt.generated}}}
			acc.align(map[string]*statement{"Q": {name: "Q", file: "f", sql: tt.written + ";"}}, &found)
			if tt.want == "" && len(found) > 0 || !strings.Contains(strings.Join(found, "\n"), tt.want) {
				t.Errorf("found %q, want %q", slices.Clone(found), tt.want)
			}
		})
	}
}

package plans

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// scope is what one select, update or delete reads; its sub-selects are scopes
// of their own.
type scope struct {
	sources    []source
	conditions []condition
	selected   []string
	limited    bool
}

// source is a table, a sub-select or a function of a FROM, under its alias.
type source struct {
	alias, table string // the table is "(" for a sub-select
	bounded      bool   // its rows are those of an argument, or a limit bounds them
	optional     bool   // the side of a left join that may be missing
}

// condition is one condition of a WHERE or an ON, which is split at each `and`.
type condition struct {
	words    []string
	optional string // the alias of the left join that it is the ON of
}

func (c condition) String() string { return strings.Join(c.words, " ") }

var word = regexp.MustCompile(`'(?:[^']|'')*'|\?\d*|\w+(?:\.\w+)?|->>|->|<=|>=|<>|\|\||\S`)

// scopes are those of a statement in SQLite's SQL.
func (s statement) scopes() []scope {
	return scopesOf(word.FindAllString(strings.ReplaceAll(s.bare(), `"`, ""), -1))
}

var clauses = map[string]bool{
	"with": true, "select": true, "insert": true, "update": true, "delete": true, "set": true, "from": true, "where": true,
	"group": true, "having": true, "order": true, "limit": true, "returning": true, "conflict": true, "values": true,
}

// scopesOf are the scopes of words and of every bracket in them.
func scopesOf(words []string) (out []scope) {
	parts, clause := map[string][]string{}, ""
	for i := 0; i < len(words); {
		end := i + 1
		if words[i] == "(" {
			end = closing(words, i) + 1
			out = append(out, scopesOf(words[i+1:end-1])...)
		}
		switch {
		case words[i] == "union":
			return append(append(out, newScope(parts)...), scopesOf(words[end:])...)
		case words[i] == "on" && end < len(words) && words[end] == "conflict":
			// begins a clause, with the next word
		case clauses[words[i]] && (clause != "conflict" || words[i] == "returning"):
			clause = words[i] // what a conflict asks is asked of the one row that it met
		default:
			parts[clause] = append(parts[clause], words[i:end]...)
		}
		i = end
	}
	return append(out, newScope(parts)...)
}

// newScope has no scope for clauses that read nothing.
func newScope(parts map[string][]string) []scope {
	var s scope
	optional := false
	for _, item := range split(slices.Concat(parts["update"], parts["from"]), ",", "join") {
		next := false
		for len(item) > 0 && slices.Contains([]string{"left", "inner", "outer", "cross"}, item[len(item)-1]) {
			next = next || item[len(item)-1] == "left"
			item = item[:len(item)-1]
		}
		if len(item) > 0 {
			s.read(item, optional)
		}
		optional = next
	}
	if len(s.sources) == 0 {
		return nil
	}
	s.ask(parts["where"], "")
	s.selected, s.limited = parts["select"], parts["limit"] != nil
	return []scope{s}
}

// read takes in one item of a FROM, with its ON.
func (s *scope) read(item []string, optional bool) {
	on := []string(nil)
	if parts := split(item, "on"); len(parts) == 2 {
		item, on = parts[0], parts[1]
	}
	from := source{alias: item[0], table: item[0], optional: optional}
	if i := slices.Index(item, "("); i >= 0 {
		from.bounded = i > 0 || bounded(item[1:closing(item, i)])
		item = item[closing(item, i):]
	}
	if item = slices.DeleteFunc(slices.Clone(item[1:]), func(w string) bool { return w == "as" }); len(item) > 0 && item[0] != "indexed" {
		from.alias = item[0]
	}
	s.sources = append(s.sources, from)
	left := ""
	if optional {
		left = from.alias
	}
	s.ask(on, left)
}

// bounded reports whether a sub-select has a limit, or has rows of arguments alone.
func bounded(words []string) bool {
	all := scopesOf(words)
	if len(all) == 0 {
		return true
	}
	outer := all[len(all)-1]
	many := func(from source) bool { return !from.bounded }
	return outer.limited || !slices.ContainsFunc(outer.sources, many)
}

func (s *scope) ask(words []string, optional string) {
	for _, c := range split(words, "and") {
		if len(c) > 0 && c[0] != "true" {
			s.conditions = append(s.conditions, condition{c, optional})
		}
	}
}

// closing is where the bracket at i closes.
func closing(words []string, i int) int {
	depth := 0
	for ; i < len(words); i++ {
		switch words[i] {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(words)
}

// split cuts words at each of the separators that is in no bracket.
func split(words []string, separators ...string) [][]string {
	out := [][]string{nil}
	for i := 0; i < len(words); i++ {
		end := i + 1
		if words[i] == "(" {
			end = min(closing(words, i)+1, len(words))
		}
		if last := len(out) - 1; slices.Contains(separators, words[i]) {
			out = append(out, nil)
		} else {
			out[last] = append(out[last], words[i:end]...)
		}
		i = end - 1
	}
	return out
}

func TestScopesOfAStatement(t *testing.T) {
	t.Parallel()
	s := statement{"Planted", `-- name: Planted
		with old as (select id from leases where term > 1)
		select case when r.a = 1 and b then 1 end, (select max(x) from meta where key = r.key)
		from runs r left join jobs as j indexed by jobs_claim on j.id = r.job_id and j.kind = 'a and b'
		cross join json_each(?1) t, (select k.name from job_kinds k limit 1) k
		where (a, b) < (?2, coalesce(?3, '')) and (?4 is null or c = ?4) and d in (select id from old)
		union all select "key" from meta`}
	want := []string{
		"[{leases leases false false}] [term > 1]",
		"[{meta meta false false}] [key = r.key]",
		"[{k job_kinds false false}] []",
		"[{old old false false}] []",
		"[{r runs false false} {j jobs false true} {t json_each true false} {k ( true false}] " +
			"[j.id = r.job_id j.kind = 'a and b' ( a , b ) < ( ?2 , coalesce ( ?3 , '' ) ) ( ?4 is null or c = ?4 ) d in ( select id from old )]",
		"[{meta meta false false}] []",
	}
	var got []string
	for _, scope := range s.scopes() {
		got = append(got, fmt.Sprint(scope.sources)+" "+fmt.Sprint(scope.conditions))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

package plans

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// liteGate judges plans as EXPLAIN QUERY PLAN tells them.
type liteGate struct {
	db      *sql.DB
	unique  map[string]int    // index → its columns, where it is unique
	partial map[string]string // index → its predicate
}

func newLiteGate(t *testing.T, s *store.Store) *liteGate {
	t.Helper()
	g := &liteGate{dbtest.DB(t, s), map[string]int{}, map[string]string{}}
	rows, err := g.db.QueryContext(t.Context(), `
		select i.name, i."unique", (select count(*) from pragma_index_info(i.name)), coalesce(d.sql, '')
		from sqlite_schema s join pragma_index_list(s.name) i left join sqlite_schema d on d.name = i.name
		where s.type = 'table'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, text string
		var unique bool
		var columns int
		if err := rows.Scan(&name, &unique, &columns, &text); err != nil {
			t.Fatal(err)
		}
		if unique {
			g.unique[name] = columns
		}
		if _, predicate, ok := strings.Cut(text, " where "); ok {
			g.partial[name] = predicate
		}
	}
	if rows.Err() != nil || len(g.unique) < 5 {
		t.Fatalf("%d unique indexes, %v", len(g.unique), rows.Err())
	}
	return g
}

// plan is the lines of the query plan.
func (g *liteGate) plan(ctx context.Context, s statement) ([]string, error) {
	rows, err := g.db.QueryContext(ctx, "explain query plan "+s.bare(), make([]any, s.arguments())...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var id, parent, unused int
		var line string
		if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, rows.Err()
}

// search is one index seek: SEARCH r USING INDEX i (a=? AND (b,c)<(?,?)).
var search = regexp.MustCompile(`^SEARCH (\w+) USING (?:COVERING )?INDEX (\w+) \((.*)\)(?: LEFT-JOIN)?$`)

// judge names what is wrong with the plan of a statement.
func (g *liteGate) judge(ctx context.Context, s statement) (faults []string, err error) {
	lines, err := g.plan(ctx, s)
	if err != nil {
		return nil, err
	}
	var seeks [][]string
	found := map[string]bool{} // sub-selects by alias: their own lines are judged
	for _, line := range lines {
		if _, alias, ok := strings.Cut(line, "MATERIALIZE "); ok {
			found["SCAN "+alias] = true
		}
		if _, alias, ok := strings.Cut(line, "CO-ROUTINE "); ok {
			found["SCAN "+alias] = true
		}
	}
	for _, line := range lines {
		if m := search.FindStringSubmatch(line); m != nil {
			seeks = append(seeks, m)
			continue
		}
		if name, ok := strings.CutPrefix(line, "SCAN "); ok && slices.Contains(lines, "CO-ROUTINE "+name) {
			continue // rows of a sub-select, whose own reading has a line of its own
		}
		if found[line] {
			continue
		}
		if fault := g.line(s, line); fault != "" {
			faults = append(faults, fault)
		}
	}
	if residual[s.name] == "" {
		faults = append(faults, g.leftOver(s, seeks)...)
	}
	return faults, nil
}

func (g *liteGate) line(s statement, line string) string {
	switch {
	case strings.Contains(line, "TEMP B-TREE"):
		return "sorts: " + line
	case strings.Contains(line, "VIRTUAL TABLE"), // json_each of an argument
		strings.HasPrefix(line, "SCAN (subquery-"): // as found, above
		return ""
	case strings.HasPrefix(line, "SCAN ") && !strings.Contains(line, "CONSTANT ROW"):
		_, index, found := strings.Cut(line, "USING INDEX ")
		if found && residual[s.name] != "" && g.partial[index] != "" {
			return "" // all of a partial index, allowed where residual says why
		}
		return "reads a whole table: " + line
	case strings.HasPrefix(line, "SEARCH "):
		return "not a plain index seek: " + line
	}
	return ""
}

// leftOver names the conditions that no seek took over: SQLite does not show
// its filters, so they are what is in a WHERE and in no index term.
func (g *liteGate) leftOver(s statement, seeks [][]string) (faults []string) {
	for _, condition := range conditions(s.bare()) {
		taken := slices.ContainsFunc(seeks, func(m []string) bool { return g.takes(m[2], m[3], condition) })
		if !taken {
			faults = append(faults, fmt.Sprintf("%q is in no index term of %q", condition, seeks))
		}
	}
	return faults
}

var (
	simple = regexp.MustCompile(`^(?:\w+\.)?(\w+) (=|<|>|<=|>=|in) `)
	ofExpr = regexp.MustCompile(`^\w+\([^()]+\) = `)
)

// takes reports whether a seek by index and term leaves nothing of a condition.
func (g *liteGate) takes(index, term, condition string) bool {
	terms := strings.Split(term, " AND ")
	if n, ok := g.unique[index]; ok && len(terms) == n && strings.Count(term, "=?") == n {
		return true // at most one row
	}
	if strings.Contains(g.partial[index], plainColumn.ReplaceAllString(condition, "")) {
		return true
	}
	if m := comparison.FindStringSubmatch(condition); m != nil {
		return strings.Contains(term, fmt.Sprintf("(%s,%s)", m[1], m[2]))
	}
	if m := simple.FindStringSubmatch(condition); m != nil {
		return slices.ContainsFunc(terms, func(t string) bool {
			return strings.HasPrefix(t, m[1]) && strings.ContainsAny(t[len(m[1]):len(m[1])+1], "=<>")
		})
	}
	return ofExpr.MatchString(condition) && strings.Contains(term, "<expr>=?")
}

var (
	plainColumn = regexp.MustCompile(`^\w+\.`)
	onConflict  = regexp.MustCompile(`on conflict \([^)]*\) where .*? do`)
	clause      = regexp.MustCompile(`^(order by|limit|group by|returning|on conflict|for update|union)\b`)
)

// conditions are what the WHEREs of a statement ask of stored tables, one by
// one: split at each `and` outside parentheses.
func conditions(sql string) (out []string) {
	text := onConflict.ReplaceAllString(strings.Join(strings.Fields(sql), " "), "on conflict")
	for _, at := range regexp.MustCompile(`\bwhere `).FindAllStringIndex(text, -1) {
		depth, start := 0, at[1]
		for i := at[1]; ; i++ {
			rest := ""
			if i < len(text) {
				rest = text[i:]
			}
			end := rest == "" || depth == 0 && (rest[0] == ')' || clause.MatchString(rest))
			if end || depth == 0 && strings.HasPrefix(rest, " and ") {
				out = append(out, strings.TrimSpace(text[start:i]))
				start = i + len(" and ")
			}
			if end {
				break
			}
			depth += strings.Count(rest[:1], "(") - strings.Count(rest[:1], ")")
		}
	}
	// What is asked of json_each is not asked of a stored table.
	return slices.DeleteFunc(out, func(c string) bool { return strings.HasPrefix(c, "l.value") || c == "true" })
}

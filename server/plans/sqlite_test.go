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

// liteGate checks plans as EXPLAIN QUERY PLAN tells them.
type liteGate struct {
	db      *sql.DB
	tables  catalog
	indexes map[string]liteIndex
}

// liteIndex is what the gate knows of an index.
type liteIndex struct {
	columns   int
	unique    bool
	text      string // its `create index` without white space, empty for a constraint's
	predicate []string
}

func newLiteGate(t *testing.T, s *store.Store) *liteGate {
	t.Helper()
	g := &liteGate{dbtest.DB(t, s), newCatalog(t, s), map[string]liteIndex{}}
	rows, err := g.db.QueryContext(t.Context(), `
		select i.name, i."unique", (select count(*) from pragma_index_info(i.name)), coalesce(d.sql, '')
		from sqlite_schema s join pragma_index_list(s.name) i left join sqlite_schema d on d.name = i.name
		where s.type = 'table'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var index liteIndex
		if err := rows.Scan(&name, &index.unique, &index.columns, &index.text); err != nil {
			t.Fatal(err)
		}
		if _, predicate, ok := strings.Cut(index.text, " where "); ok {
			for _, part := range split(word.FindAllString(predicate, -1), "and") {
				index.predicate = append(index.predicate, strings.Join(part, " "))
			}
		}
		index.text = strings.Join(strings.Fields(index.text), "")
		g.indexes[name] = index
	}
	if rows.Err() != nil || len(g.indexes) < 10 {
		t.Fatalf("%d indexes, %v", len(g.indexes), rows.Err())
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

// reads names the indexes that a statement reads.
func (g *liteGate) reads(ctx context.Context, s statement) (out []string, err error) {
	lines, err := g.plan(ctx, s)
	for _, line := range lines {
		if k := g.seek(s, line); k != nil {
			out = append(out, k.index)
		}
	}
	return out, err
}

func (g *liteGate) covered(t *testing.T, s statement) bool {
	t.Helper()
	lines, err := g.plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(strings.Join(lines, "\n"), "USING COVERING INDEX")
}

// faults names what is wrong with the plan of a statement.
func (g *liteGate) faults(ctx context.Context, s statement) (faults []string, err error) {
	lines, err := g.plan(ctx, s)
	if err != nil {
		return nil, err
	}
	b := binding{g: g, statement: s.name}
	inner := map[string]bool{} // sub-selects: what they read has lines of its own
	for _, line := range lines {
		if m := subSelect.FindStringSubmatch(line); m != nil {
			inner["SCAN "+m[1]] = true
		}
	}
	for _, line := range lines {
		if k := g.seek(s, line); k != nil {
			b.seeks = append(b.seeks, k)
		} else if fault := g.line(line); fault != "" && !inner[line] {
			faults = append(faults, fault)
		}
	}
	for _, scope := range s.scopes() {
		faults = append(faults, b.leftOver(&scope)...)
	}
	for _, k := range b.seeks {
		if !k.bound && !g.ofForeignKey(s, k) {
			faults = append(faults, fmt.Sprintf("the gate does not see what %q is for: write the FROM more plainly, or mend scopesOf (server/plans/scopes_test.go)", k.line))
		}
	}
	return faults, nil
}

var (
	subSelect = regexp.MustCompile(`^(?:CO-ROUTINE|MATERIALIZE) (\S+)`)
	// search is one index seek: SEARCH r USING INDEX i (a=? AND (b,c)<(?,?)).
	search = regexp.MustCompile(`^SEARCH (\w+) USING (?:COVERING )?INDEX (\w+) \((.*)\)(?: LEFT-JOIN)?$`)
	whole  = regexp.MustCompile(`^SCAN (\w+) USING INDEX (\w+)$`)
	// harmless are the other lines that read no row of a stored table.
	harmless = regexp.MustCompile(`^(?:CO-ROUTINE |MATERIALIZE |SCALAR SUBQUERY |CORRELATED SCALAR SUBQUERY |LIST SUBQUERY |CORRELATED LIST SUBQUERY |REUSE LIST SUBQUERY |USING INDEX \w+ FOR IN-OPERATOR|SCAN CONSTANT ROW|SCAN \(subquery-\d+\)|(?:SCAN|SEARCH) \w+ VIRTUAL TABLE |CREATE BLOOM FILTER)`)
)

// seek is the index seek of a line, nil for other lines. All of a partial index
// may be read where residual says why.
func (g *liteGate) seek(s statement, line string) *seek {
	if m := search.FindStringSubmatch(line); m != nil {
		return &seek{alias: m[1], index: m[2], line: line, terms: strings.Split(m[3], " AND ")}
	}
	m := whole.FindStringSubmatch(line)
	if m == nil || residual[s.name] == "" || g.indexes[m[2]].predicate == nil {
		return nil
	}
	return &seek{alias: m[1], index: m[2], line: line}
}

var written = regexp.MustCompile(`^(?:insert into|update|delete from) "?(\w+)`)

// ofForeignKey reports whether a seek, which no source of the statement is behind,
// looks for the rows that refer to one that the statement writes.
func (g *liteGate) ofForeignKey(s statement, k *seek) bool {
	into := written.FindStringSubmatch(s.bare())
	return into != nil && slices.ContainsFunc(g.tables[k.alias], func(c column) bool {
		return c.references == into[1] && slices.Equal(k.terms, []string{c.name + "=?"})
	})
}

// line names what is wrong with a line that is no seek.
func (g *liteGate) line(line string) string {
	switch {
	case harmless.MatchString(line):
		return ""
	case strings.Contains(line, "TEMP B-TREE"):
		return "sorts, for want of an index in the order asked for: " + line
	case strings.HasPrefix(line, "SCAN "):
		return "reads a whole table: " + line + "; " + advice
	}
	return fmt.Sprintf("%q is no plain index seek; %s", line, advice)
}

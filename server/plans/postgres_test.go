package plans

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/stint-run/stint/server/dbtest"
	"github.com/stint-run/stint/server/store"
)

// node is one node of a PostgreSQL plan.
type node struct {
	Type   string `json:"Node Type"`
	Table  string `json:"Relation Name"`
	Index  string `json:"Index Name"`
	Cond   string `json:"Index Cond"`
	Filter string `json:"Filter"`
	Plans  []node `json:"Plans"`
}

// walk visits n and what lies under it.
func (n node) walk(fn func(node)) {
	fn(n)
	for _, child := range n.Plans {
		child.walk(fn)
	}
}

// pgIndex is what the gate knows of an index.
type pgIndex struct {
	table     string
	columns   []string
	unique    bool
	predicate string
}

// pgGate judges plans on one connection, where every shortcut is forbidden that
// a small table might tempt the planner to.
type pgGate struct {
	conn    *pgx.Conn
	indexes map[string]pgIndex
}

func newPgGate(t *testing.T, s *store.Store) *pgGate {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dbtest.URLOf(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	_, err = conn.Exec(t.Context(), `
		set plan_cache_mode = force_generic_plan;
		set enable_seqscan = off;
		set enable_bitmapscan = off;
		set enable_sort = off;
		set enable_incremental_sort = off`)
	if err != nil {
		t.Fatal(err)
	}
	return &pgGate{conn, pgIndexes(t, conn)}
}

func pgIndexes(t *testing.T, conn *pgx.Conn) map[string]pgIndex {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		select i.indexrelid::regclass::text, i.indrelid::regclass::text, i.indisunique,
			array(select pg_get_indexdef(i.indexrelid, k, true) from generate_series(1, i.indnkeyatts) k),
			coalesce(pg_get_expr(i.indpred, i.indrelid), '')
		from pg_index i where i.indrelid::regclass::text !~ '^pg_'`)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]pgIndex{}
	var name string
	var index pgIndex
	_, err = pgx.ForEachRow(rows, []any{&name, &index.table, &index.unique, &index.columns, &index.predicate}, func() error {
		index.columns = slices.Clone(index.columns)
		out[name] = index
		return nil
	})
	if err != nil || len(out) < 10 {
		t.Fatalf("%d indexes, %v", len(out), err)
	}
	return out
}

// plan is the generic plan of a statement.
func (g *pgGate) plan(ctx context.Context, s statement) (node, error) {
	args := ""
	if n := s.arguments(); n > 0 {
		args = "(" + strings.Join(slices.Repeat([]string{"null"}, n), ", ") + ")"
	}
	if _, err := g.conn.Exec(ctx, "prepare judged as "+s.bare()); err != nil {
		return node{}, err
	}
	defer g.conn.Exec(ctx, "deallocate judged")
	var text []byte
	if err := g.conn.QueryRow(ctx, "explain (format json) execute judged"+args, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		return node{}, err
	}
	var out []struct{ Plan node }
	if err := json.Unmarshal(text, &out); err != nil {
		return node{}, err
	}
	return out[0].Plan, nil
}

// judge names what is wrong with the plan of a statement.
func (g *pgGate) judge(ctx context.Context, s statement) (faults []string, err error) {
	plan, err := g.plan(ctx, s)
	if err != nil {
		return nil, err
	}
	pair, compared := s.rowComparison(), false
	plan.walk(func(n node) {
		if strings.Contains(n.Type, "Sort") {
			faults = append(faults, "sorts")
		}
		if n.Table == "" || n.Type == "ModifyTable" {
			return
		}
		if fault := g.scan(s, n); fault != "" {
			faults = append(faults, fault)
		}
		compared = compared || pair != nil && strings.Contains(n.Cond, fmt.Sprintf("ROW(%s, %s)", pair[0], pair[1]))
	})
	if pair != nil && !compared {
		faults = append(faults, "the row comparison is in no index condition")
	}
	return faults, nil
}

// scan names what is wrong with one scan of a stored table.
func (g *pgGate) scan(s statement, n node) string {
	where := fmt.Sprintf("%s of %s by %s (%s) filter %s", n.Type, n.Table, n.Index, n.Cond, n.Filter)
	if n.Type == "Tid Scan" {
		return "" // of rows that a sub-select has locked, and that it is judged for
	}
	if n.Type != "Index Scan" && n.Type != "Index Only Scan" {
		return where + ": not an index scan"
	}
	free, filter := residual[s.name], g.leftOver(n)
	switch {
	case free != "" && (filter == "" || strings.Contains(filter, free)):
		return "" // what bounds it is said where it is allowed
	case n.Cond == "":
		return where + ": the whole index is read"
	case filter != "" && !g.atMostOne(n):
		return where + ": rows are read that the index should have left out"
	}
	return ""
}

// leftOver is the part of a filter that the index's own predicate does not
// hold: a row that is locked has the predicate tested again.
func (g *pgGate) leftOver(n node) string {
	predicate := conjuncts(g.indexes[n.Index].predicate)
	left := slices.DeleteFunc(conjuncts(n.Filter), func(c string) bool { return slices.Contains(predicate, c) })
	return strings.Join(left, " and ")
}

func conjuncts(expression string) []string {
	parts := strings.Split(expression, " AND ")
	for i, p := range parts {
		parts[i] = strings.Trim(p, "()")
	}
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}

// atMostOne reports whether the condition names every column of a unique index
// of the table: then a filter looks at one row, or at one per id asked for.
func (g *pgGate) atMostOne(n node) bool {
	for name, index := range g.indexes {
		if index.table != n.Table || !index.unique || index.predicate != "" && name != n.Index {
			continue
		}
		all := true
		for _, c := range index.columns {
			all = all && regexp.MustCompile(`\(`+regexp.QuoteMeta(c)+` = `).MatchString(n.Cond)
		}
		if all {
			return true
		}
	}
	return false
}

package plans

import (
	"cmp"
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
	Type         string `json:"Node Type"`
	Relationship string `json:"Parent Relationship"`
	Join         string `json:"Join Type"`
	Table        string `json:"Relation Name"`
	Alias        string `json:"Alias"`
	Index        string `json:"Index Name"`
	Cond         string `json:"Index Cond"`
	Filter       string `json:"Filter"`
	JoinFilter   string `json:"Join Filter"`
	HashCond     string `json:"Hash Cond"`
	MergeCond    string `json:"Merge Cond"`
	Plans        []node `json:"Plans"`
}

// walk visits n and what lies under it.
func (n node) walk(fn func(node)) {
	fn(n)
	for _, child := range n.Plans {
		child.walk(fn)
	}
}

// byIndex are the nodes that read an index.
func (n node) byIndex(name string) (out []node) {
	n.walk(func(n node) {
		if n.Index == name {
			out = append(out, n)
		}
	})
	return out
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
	conn *pgx.Conn
	made map[string]pgIndex
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
		set enable_hashjoin = off;
		set enable_mergejoin = off;
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

// indexes are those that a statement reads.
func (g *pgGate) indexes(ctx context.Context, s statement) (out []string, err error) {
	plan, err := g.plan(ctx, s)
	plan.walk(func(n node) { out = append(out, n.Index) })
	return out, err
}

// judge names what is wrong with the plan of a statement.
func (g *pgGate) judge(ctx context.Context, s statement) (faults []string, err error) {
	plan, err := g.plan(ctx, s)
	if err != nil {
		return nil, err
	}
	g.walk(plan, false, func(n node, many bool) {
		if strings.Contains(n.Type, "Sort") {
			faults = append(faults, "sorts, for want of an index in the order asked for")
		}
		fault := g.filters(s, n, many)
		if n.Table != "" && n.Type != "ModifyTable" && n.Type != "Tid Scan" {
			fault = cmp.Or(g.scan(s, n), fault)
		}
		if fault != "" {
			faults = append(faults, fault+"; "+advice)
		}
	})
	return faults, nil
}

// walk visits the nodes, each with whether it runs for each of many rows and a
// row that it leaves out leaves out one of them.
func (g *pgGate) walk(n node, many bool, fn func(n node, many bool)) {
	fn(n, many)
	for _, child := range n.Plans {
		switch inner := child.Relationship == "Inner"; {
		case child.Relationship == "InitPlan" || child.Relationship == "SubPlan" || inner && n.Join == "Left":
			g.walk(child, false, fn)
		default:
			g.walk(child, many || inner && !g.fewRows(n.Plans[0]), fn)
		}
	}
}

// scan names what is wrong with how a stored table is read.
func (g *pgGate) scan(s statement, n node) string {
	if n.Type != "Index Scan" && n.Type != "Index Only Scan" {
		return n.String() + " is no index scan"
	}
	if n.Cond == "" && (residual[s.name] == "" || g.made[n.Index].predicate == "") {
		return n.String() + " reads the whole index"
	}
	return ""
}

// filters names what a node tests row by row though an index should have left
// the rows out.
func (g *pgGate) filters(s statement, n node, many bool) string {
	left := slices.Concat(g.leftOver(s, n), conjuncts(n.JoinFilter), conjuncts(n.HashCond), conjuncts(n.MergeCond))
	if n.Join == "Semi" || n.Join == "Anti" {
		left = append(left, "exists")
	}
	few := !many && g.fewRows(n)
	if n.Join == "Left" && n.Filter == "" {
		few = g.fewRows(n.Plans[1])
	}
	if len(left) == 0 || few {
		return ""
	}
	return fmt.Sprintf("%q is tested row by row, on more than a row or two, in %s", left, n)
}

// leftOver is the part of a filter that residual does not list and the index's
// own predicate does not hold: a row that is locked has that tested again.
func (g *pgGate) leftOver(s statement, n node) []string {
	alias, column, _ := strings.Cut(residual[s.name], ".")
	predicate := conjuncts(g.made[n.Index].predicate)
	return slices.DeleteFunc(conjuncts(n.Filter), func(c string) bool {
		return slices.Contains(predicate, c) || n.Alias == alias && strings.HasPrefix(c, column+" ")
	})
}

// conjuncts are the conditions of a filter; one with an OR stays whole.
func conjuncts(expression string) []string {
	if strings.Contains(expression, " OR ") {
		return []string{expression}
	}
	parts := strings.Split(expression, " AND ")
	for i, p := range parts {
		parts[i] = strings.Trim(p, "()")
	}
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}

// fewRows reports whether what lies under a node is read one row at a time, as
// an argument, a key or a locked row asks for it: doc.go says when.
func (g *pgGate) fewRows(n node) bool {
	switch {
	case slices.Contains([]string{"Function Scan", "Tid Scan", "Limit"}, n.Type) || n.Type == "Result" && n.Plans == nil:
		return true
	case n.Table != "" && n.Type != "ModifyTable":
		return g.atMostOne(n)
	}
	for _, child := range n.Plans {
		optional := child.Relationship == "Inner" && n.Join == "Left"
		if child.Relationship != "InitPlan" && child.Relationship != "SubPlan" && !optional && !g.fewRows(child) {
			return false
		}
	}
	return len(n.Plans) > 0
}

// atMostOne reports whether the condition names every column of a unique index
// of the table: then a filter looks at one row, or at one per id asked for.
func (g *pgGate) atMostOne(n node) bool {
	for name, index := range g.made {
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

// String tells what a node does.
func (n node) String() string {
	if n.Table == "" {
		return n.Type
	}
	return fmt.Sprintf("%s of %s as %s by %s, index condition %q", n.Type, n.Table, n.Alias, n.Index, n.Cond)
}

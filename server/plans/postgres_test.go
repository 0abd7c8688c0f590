package plans

import (
	"context"
	"encoding/json"
	"fmt"
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
	Returns      string `json:"Subplan Name"`
	Join         string `json:"Join Type"`
	Table        string `json:"Relation Name"`
	Alias        string `json:"Alias"`
	Index        string `json:"Index Name"`
	Direction    string `json:"Scan Direction"`
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

// String tells what a node does.
func (n node) String() string {
	if n.Table == "" {
		return n.Type
	}
	return fmt.Sprintf("%s of %s as %s by %s, index condition %q", n.Type, n.Table, n.Alias, n.Index, n.Cond)
}

// pgIndex is what the gate knows of an index.
type pgIndex struct {
	table     string
	columns   []string
	downwards []bool // by column
	unique    bool
	predicate string
}

// pgGate checks plans on one connection, where every shortcut is forbidden that
// a small table might tempt the planner to.
type pgGate struct {
	conn    *pgx.Conn
	indexes map[string]pgIndex
	arrays  map[string]node // of the plan that is checked: what reads each array
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
	return &pgGate{conn: conn, indexes: pgIndexes(t, conn)}
}

func pgIndexes(t *testing.T, conn *pgx.Conn) map[string]pgIndex {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		select i.indexrelid::regclass::text, i.indrelid::regclass::text, i.indisunique,
			array(select pg_get_indexdef(i.indexrelid, k, true) from generate_series(1, i.indnkeyatts) k),
			array(select i.indoption[k - 1] & 1 = 1 from generate_series(1, i.indnkeyatts) k),
			coalesce(pg_get_expr(i.indpred, i.indrelid), '')
		from pg_index i where i.indrelid::regclass::text !~ '^pg_'`)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]pgIndex{}
	var name string
	var index pgIndex
	_, err = pgx.ForEachRow(rows, []any{&name, &index.table, &index.unique, &index.columns, &index.downwards, &index.predicate}, func() error {
		index.columns, index.downwards = slices.Clone(index.columns), slices.Clone(index.downwards)
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
	if _, err := g.conn.Exec(ctx, "prepare checked as "+s.bare()); err != nil {
		return node{}, err
	}
	defer g.conn.Exec(ctx, "deallocate checked")
	var text []byte
	if err := g.conn.QueryRow(ctx, "explain (format json) execute checked"+args, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		return node{}, err
	}
	var out []struct{ Plan node }
	if err := json.Unmarshal(text, &out); err != nil {
		return node{}, err
	}
	return out[0].Plan, nil
}

// reads names the indexes that a statement reads.
func (g *pgGate) reads(ctx context.Context, s statement) (out []string, err error) {
	plan, err := g.plan(ctx, s)
	plan.walk(func(n node) { out = append(out, n.Index) })
	return out, err
}

func (g *pgGate) covered(t *testing.T, s statement) (found bool) {
	t.Helper()
	plan, err := g.plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	plan.walk(func(n node) { found = found || n.Type == "Index Only Scan" })
	return found
}

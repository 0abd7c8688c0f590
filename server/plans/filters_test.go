package plans

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// faults names what is wrong with the plan of a statement.
func (g *pgGate) faults(ctx context.Context, s statement) (faults []string, err error) {
	plan, err := g.plan(ctx, s)
	if err != nil {
		return nil, err
	}
	g.arrays = map[string]node{}
	plan.walk(func(n node) {
		if m := initPlan.FindStringSubmatch(n.Returns); m != nil {
			g.arrays[cmp.Or(m[2], "(InitPlan "+m[1]+").col1")] = n
		}
	})
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
	if n.Cond == "" && (residual[s.name] == "" || g.indexes[n.Index].predicate == "") {
		return n.String() + " reads the whole index"
	}
	if behind := g.behindGap(n); len(behind) > 0 {
		return fmt.Sprintf("%q is tested entry by entry, behind a gap in the columns of %s", behind, n)
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
	predicate := conjuncts(g.indexes[n.Index].predicate)
	return slices.DeleteFunc(conjuncts(n.Filter), func(c string) bool {
		return slices.Contains(predicate, c) || n.Alias == alias && !slices.ContainsFunc(parts(c, " OR "), func(side string) bool {
			return !strings.HasPrefix(side, column+" ")
		})
	})
}

// conjuncts are the conditions of a filter; one with an OR stays whole.
func conjuncts(expression string) []string { return parts(expression, " AND ") }

// parts cuts an expression at a word that stands in no bracket, and takes off the
// brackets around the whole and around each part.
func parts(expression, word string) (out []string) {
	for len(expression) > 1 && expression[0] == '(' && closes(expression) == len(expression)-1 {
		expression = expression[1 : len(expression)-1]
	}
	if expression == "" {
		return nil
	}
	begin := 0
	for i := 0; i < len(expression); i++ {
		switch {
		case expression[i] == '(':
			i += closes(expression[i:])
		case strings.HasPrefix(expression[i:], word):
			out = append(out, parts(expression[begin:i], word)...)
			begin = i + len(word)
		}
	}
	if begin == 0 {
		return []string{expression}
	}
	return append(out, parts(expression[begin:], word)...)
}

// closes is where the bracket closes with which text begins.
func closes(text string) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
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

var (
	// Until PostgreSQL 16 the array that a plan begins with is $0, $1, …; from 17
	// on it is (InitPlan 1).col1.
	initPlan = regexp.MustCompile(`^InitPlan (\d+)(?: \(returns (\$\d+)\))?$`)
	anyOf    = regexp.MustCompile(`= ANY \((\$\d+|\(InitPlan \d+\)\.col1)\)`)
)

// atMostOne reports whether the condition names every column of a unique index
// of the table: then a filter looks at one row, or at one per id asked for, of
// which an array that the statement itself reads may not have many.
func (g *pgGate) atMostOne(n node) bool {
	for _, m := range anyOf.FindAllStringSubmatch(n.Cond, -1) {
		if array, read := g.arrays[m[1]]; read && !g.fewRows(array) {
			return false
		}
	}
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

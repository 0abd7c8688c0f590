package plans

import (
	"slices"
	"strings"
)

// behindGap names the conditions of an index scan that bound no range of the
// index: those of a column behind one that has no condition, or none but a range.
// PostgreSQL shows them as index conditions too, but reads each entry that the
// columns before the gap leave, to test them.
func (g *pgGate) behindGap(n node) (out []string) {
	left := conjuncts(n.Cond)
	for _, column := range g.indexes[n.Index].columns {
		equal, seek := boundsOf(unbracketed(column), left)
		left = slices.DeleteFunc(left, func(c string) bool { return slices.Contains(seek, c) })
		if !equal {
			break
		}
	}
	return left
}

// boundsOf are the conditions that bound an index's next column: the one that
// asks for a value of it, or else those that ask for a range.
func boundsOf(column string, conditions []string) (equal bool, seek []string) {
	for _, c := range conditions {
		switch text := unbracketed(c); {
		case strings.HasPrefix(text, column+" = "), text == column+" IS NULL":
			return true, []string{c}
		case strings.HasPrefix(text, column+" "), strings.HasPrefix(text, "ROW"+column+","):
			seek = append(seek, c)
		}
	}
	return false, seek
}

// unbracketed makes one text of an expression as pg_get_indexdef and EXPLAIN write it.
func unbracketed(expression string) string {
	return strings.NewReplacer("(", "", ")", "").Replace(expression)
}

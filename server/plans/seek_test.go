package plans

import (
	"slices"
	"strings"
)

// behindGap names the conditions of an index scan that bound no range of the
// index: those of a column behind one that has no condition, or none but a range.
// PostgreSQL shows them as index conditions too, but reads each entry that the
// columns before the gap leave, to test them. Neither does a comparison of rows at
// the end of a scan: it ends the scan by its first column alone, and for a key that
// is not there the scan reads on as long as that one is equal.
func (g *pgGate) behindGap(n node) (out []string) {
	left, index := conjuncts(n.Cond), g.indexes[n.Index]
	for i, column := range index.columns {
		up := index.downwards[i] == (n.Direction == "Backward")
		equal, seek := boundsOf(unbracketed(column), up, left)
		left = slices.DeleteFunc(left, func(c string) bool { return slices.Contains(seek, c) })
		if !equal {
			break
		}
	}
	return left
}

// boundsOf are the conditions that bound an index's next column: the one that
// asks for a value of it, or else those that ask for a range. A comparison of rows is
// one where the scan, upwards in that column or not, begins.
func boundsOf(column string, up bool, conditions []string) (equal bool, seek []string) {
	for _, c := range conditions {
		switch text := unbracketed(c); {
		case strings.HasPrefix(text, column+" = "), text == column+" IS NULL":
			return true, []string{c}
		case strings.HasPrefix(text, column+" "), strings.HasPrefix(text, "ROW"+column+",") && strings.Contains(text, " >") == up:
			seek = append(seek, c)
		}
	}
	return false, seek
}

// unbracketed makes one text of an expression as pg_get_indexdef and EXPLAIN write it.
func unbracketed(expression string) string {
	return strings.NewReplacer("(", "", ")", "").Replace(expression)
}

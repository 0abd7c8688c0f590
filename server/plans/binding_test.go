package plans

import (
	"fmt"
	"slices"
	"strings"
)

// seek is one index seek of SQLite's plan.
type seek struct {
	alias, index, line string
	terms              []string // those that no condition has yet
	bound              bool     // to a source of a scope
}

// binding tells which seek answers which condition of a statement.
type binding struct {
	g         *liteGate
	statement string
	seeks     []*seek
}

// leftOver names the conditions of a scope that no seek of their own alias
// answers. SQLite does not show its filters: they are what no index term took.
func (b *binding) leftOver(s *scope) (faults []string) {
	seeks := b.bind(s)
	one := map[string]bool{}
	for alias, seek := range seeks {
		one[alias] = b.atMostOne(s, seek)
	}
	for _, join := range []bool{false, true} { // a join takes what the others leave
		for _, c := range s.conditions {
			aliases := s.aliases(c.words, b.g.tables)
			if len(aliases) > 1 != join || b.take(s, c, seeks) || s.fewRows(c, aliases, one) || b.allowed(s, c) {
				continue
			}
			faults = append(faults, b.fault(s, c, aliases, seeks))
		}
	}
	return faults
}

// bind gives each table of a scope the seek of its alias; where sub-selects
// share an alias, the unused one that answers most conditions.
func (b *binding) bind(s *scope) map[string]*seek {
	out := map[string]*seek{}
	for _, from := range s.sources {
		var best *seek
		for _, k := range b.seeks {
			if k.alias == from.alias && !k.bound && (best == nil || b.taken(s, k) > b.taken(s, best)) {
				best = k
			}
		}
		if best != nil {
			best.bound = true
			out[from.alias] = best
		}
	}
	return out
}

// taken is how many conditions of a scope a seek would answer.
func (b *binding) taken(s *scope, k *seek) (n int) {
	try := *k
	try.terms = slices.Clone(k.terms)
	for _, c := range s.conditions {
		if b.take(s, c, map[string]*seek{k.alias: &try}) {
			n++
		}
	}
	return n
}

// take reports whether a seek answers a condition, by its index's predicate or
// by terms, which it then cannot use for another condition.
func (b *binding) take(s *scope, c condition, seeks map[string]*seek) bool {
	for _, alias := range s.aliases(c.words, b.g.tables) {
		if k := seeks[alias]; k != nil && b.inPredicate(c, k) {
			return true
		}
	}
	for _, o := range s.operands(c, b.g.tables) {
		k := seeks[o.alias]
		if k == nil || o.text != "" && !strings.Contains(b.g.indexes[k.index].text, o.text) {
			continue
		}
		if k.use(o.terms()) {
			return true
		}
	}
	return false
}

// use takes terms out of a seek, if it has them all.
func (k *seek) use(terms []string) bool {
	left := slices.Clone(k.terms)
	for _, term := range terms {
		i := slices.Index(left, term)
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	k.terms = left
	return len(terms) > 0
}

// atMostOne reports whether a seek has every column of a unique index: then it
// finds one row for each row that asks, unless it asks for NULLs, or for what a
// sub-select without a limit has.
func (b *binding) atMostOne(s *scope, k *seek) bool {
	index := b.g.indexes[k.index]
	for _, c := range s.conditions {
		group := slices.Index(c.words, "select")
		open := group > 1 && c.words[group-2] == "in" && !bounded(c.words[group:len(c.words)-1])
		if !open && !strings.HasSuffix(c.String(), " is null") || b.inPredicate(c, k) {
			continue
		}
		for _, o := range s.operands(c, b.g.tables) {
			if o.alias == k.alias && slices.Contains(k.terms, o.terms()[0]) {
				return false
			}
		}
	}
	return index.unique && len(k.terms) == index.columns && strings.Count(strings.Join(k.terms, " "), "=?") == index.columns
}

// inPredicate reports whether the index of a seek holds only rows for which the
// condition is true.
func (b *binding) inPredicate(c condition, k *seek) bool {
	return slices.Contains(b.g.indexes[k.index].predicate, strings.ReplaceAll(c.String(), k.alias+".", ""))
}

// fewRows reports whether a filter can only drop rows that were asked for one by
// one: doc.go says when.
func (s *scope) fewRows(c condition, aliases []string, one map[string]bool) bool {
	if c.optional != "" {
		return one[c.optional]
	}
	for _, from := range s.sources {
		if !from.bounded && !one[from.alias] && (!from.optional || slices.Contains(aliases, from.alias)) {
			return false
		}
	}
	return true
}

// allowed reports whether residual lists the column of a condition, or of each
// side of one with an `or`.
func (b *binding) allowed(s *scope, c condition) bool {
	if last := len(c.words) - 1; last > 0 && c.words[0] == "(" && closing(c.words, 0) == last {
		sides := split(c.words[1:last], "or")
		return !slices.ContainsFunc(sides, func(side []string) bool { return !b.allowed(s, condition{words: side}) })
	}
	return slices.ContainsFunc(s.operands(c, b.g.tables), func(o operand) bool {
		return len(o.columns) == 1 && residual[b.statement] == o.alias+"."+o.columns[0]
	})
}

func (b *binding) fault(s *scope, c condition, aliases []string, seeks map[string]*seek) string {
	if len(aliases) == 0 { // of an argument or an outer row: it drops rows of all
		for _, from := range s.sources {
			aliases = append(aliases, from.alias)
		}
	}
	plans := []string{}
	for _, alias := range aliases {
		if seeks[alias] != nil {
			plans = append(plans, seeks[alias].line)
		}
	}
	return fmt.Sprintf("%q of %s is tested row by row, on more than a row or two: it is in no index term of %q; %s", c, strings.Join(aliases, ", "), plans, advice)
}

package plans

import (
	"slices"
	"strings"
)

// operand is one side of a condition as an index may take it: columns of one
// alias and what they are compared by, or an expression of them.
type operand struct {
	alias   string
	columns []string
	text    string // of an expression, which has no columns
	op      string
}

// terms are how SQLite's plan spells the operand in an index seek.
func (o operand) terms() (out []string) {
	op := strings.TrimSuffix(o.op, "=") + "?" // a seek by <= is shown as <
	switch {
	case o.op == "=" && o.columns == nil:
		return []string{"<expr>=?"}
	case o.op == "=":
		for _, c := range o.columns {
			out = append(out, c+"=?")
		}
		return out
	case len(o.columns) > 1:
		marks := strings.Repeat(",?", len(o.columns))[1:]
		return []string{"(" + strings.Join(o.columns, ",") + ")" + op[:1] + "(" + marks + ")"}
	case len(o.columns) == 1:
		return []string{o.columns[0] + op}
	}
	return nil // a range of an expression
}

var flipped = map[string]string{"=": "=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

// operands are the sides of a condition that an index could take: none for an
// `or`, which no single seek answers.
func (s *scope) operands(c condition, tables catalog) (out []operand) {
	at, depth := -1, 0
	for i, w := range c.words {
		switch w {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 && (w == "or" || w == "not" || w == "case") {
			return nil
		}
		if at < 0 && depth == 0 && (flipped[w] != "" || w == "in" || w == "is") {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	left, op, right := c.words[:at], c.words[at], c.words[at+1:]
	if op == "in" || op == "is" && slices.Equal(right, []string{"null"}) {
		op = "="
	}
	out = append(out, s.operand(left, op, tables)...)
	return append(out, s.operand(right, flipped[op], tables)...)
}

func (s *scope) operand(side []string, op string, tables catalog) []operand {
	alias := s.aliases(side, tables)
	if len(alias) != 1 || flipped[op] == "" {
		return nil
	}
	o := operand{alias: alias[0], op: op}
	names := slices.DeleteFunc(slices.Clone(side), func(w string) bool { return w == "(" || w == ")" || w == "," })
	for _, name := range names {
		if s.alias(name, tables) == o.alias {
			o.columns = append(o.columns, name[strings.Index(name, ".")+1:])
		}
	}
	plain := len(side) == 1 || side[0] == "(" && len(side) == 2*len(names)+1
	if len(o.columns) < len(names) || !plain {
		o.columns, o.text = nil, strings.ReplaceAll(strings.Join(side, ""), o.alias+".", "")
	}
	return []operand{o}
}

// aliases are those whose columns words name, sub-selects left out.
func (s *scope) aliases(words []string, tables catalog) (out []string) {
	for i := 0; i < len(words); i++ {
		if words[i] == "(" && i+1 < len(words) && words[i+1] == "select" {
			i = closing(words, i)
			continue
		}
		if alias := s.alias(words[i], tables); alias != "" && !slices.Contains(out, alias) {
			out = append(out, alias)
		}
	}
	return out
}

// alias is the alias of this scope that a name belongs to: the one it is written
// with, or that of the first table that has such a column.
func (s *scope) alias(name string, tables catalog) string {
	written, _, qualified := strings.Cut(name, ".")
	for _, from := range s.sources {
		_, has := tables.column(from.table, name)
		if qualified && written == from.alias || !qualified && has {
			return from.alias
		}
	}
	return ""
}

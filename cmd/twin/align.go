package main

import "strings"

// align walks each statement as written and as generated side by side: but
// for placeholders and the columns of a star they must be the same text, and
// each argument must reach the placeholder that stands where it was written.
func (acc *accessors) align(written map[string]*statement, found *problems) {
	for name, m := range acc.methods {
		if s := written[name]; s != nil && !m.opaque {
			a := alignment{
				at: string(acc.engine) + ": " + name, where: s.file, args: m.args,
				src: fold(lex(s.sql, acc.engine)), out: lex(m.sql, acc.engine), found: found,
			}
			a.numbers = placeholders(a.out)
			a.walk()
		}
	}
}

type alignment struct {
	at, where string
	args      []string
	src, out  []lexeme
	numbers   []int // of the placeholders that out still holds
	found     *problems
}

func (a *alignment) walk() {
	for len(a.src) > 0 {
		want := a.src[0]
		a.src = a.src[1:]
		switch {
		case want.is("*") && (len(a.out) == 0 || !a.out[0].is("*")):
			a.skipColumns()
		case len(a.out) == 0:
			a.found.add("%s: the generated SQL ends before %q of %s", a.at, want.text, a.where)
			return
		case want.kind == named:
			if !a.argument(want) {
				return
			}
		case want != a.out[0]:
			a.found.add("%s: the generated SQL has %q where %s has %q", a.at, a.out[0].text, a.where, want.text)
			return
		default:
			a.out = a.out[1:]
		}
	}
	if len(a.out) > 0 {
		a.found.add("%s: the generated SQL goes on with %q after the end of %s", a.at, a.out[0].text, a.where)
	}
}

// argument checks that the placeholder in place of @name is passed that field.
func (a *alignment) argument(want lexeme) bool {
	got := a.out[0]
	a.out = a.out[1:]
	if got.kind == named {
		return got.text == want.text // refused elsewhere
	}
	if got.kind != bound {
		a.found.add("%s: the generated SQL has %q where %s has %s", a.at, got.text, a.where, want.text)
		return false
	}
	n := a.numbers[0]
	a.numbers = a.numbers[1:]
	switch {
	case n < 1 || n > len(a.args):
		a.found.add("%s: %s never reaches the call", a.at, want.text)
	case !sameName(a.args[n-1], want.text):
		a.found.add("%s: %s is passed %s where %s has %s", a.at, got.text, a.args[n-1], a.where, want.text)
	}
	return true
}

// sameName reports whether sqlc makes field of the argument @name.
func sameName(field, name string) bool {
	return strings.EqualFold(field, strings.ReplaceAll(strings.TrimLeft(name, "@:"), "_", ""))
}

// skipColumns passes over the column list that stands for a star: up to the
// first column after which the text goes on as it was written.
func (a *alignment) skipColumns() {
	rest := a.out
	for len(rest) > 0 && rest[0].kind == word {
		rest = rest[1:]
		a.out = rest
		if len(rest) == 0 || goesOn(a.src, rest) || !rest[0].is(".") && !rest[0].is(",") {
			return
		}
		rest = rest[1:]
	}
}

// goesOn reports whether out equals src up to src's next argument or star.
func goesOn(src, out []lexeme) bool {
	for i, want := range src {
		if want.kind == named || want.is("*") {
			return true
		}
		if i >= len(out) || out[i] != want {
			return false
		}
	}
	return len(out) == len(src)
}

// fold makes one token of sqlc.arg(x) and sqlc.narg(x), a star of
// sqlc.embed(x), and drops the semicolon at the end.
func fold(tokens []lexeme) []lexeme {
	var out []lexeme
	for i := 0; i < len(tokens); i++ {
		if !tokens[i].is("sqlc") || operand(tail(tokens, i+3)) == "" {
			out = append(out, tokens[i])
			continue
		}
		name := strings.Trim(tokens[i+4].text, `'"`)
		if tokens[i+2].is("embed") {
			out = append(out, lexeme{punct, "*"})
		} else {
			out = append(out, lexeme{named, "@" + name})
		}
		i += 5
	}
	if n := len(out); n > 0 && out[n-1].is(";") {
		out = out[:n-1]
	}
	return out
}

func tail(tokens []lexeme, i int) []lexeme {
	if i > len(tokens) {
		return nil
	}
	return tokens[i:]
}

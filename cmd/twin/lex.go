package main

import "strings"

// dialect is an engine as the lexer sees it; its text names the engine in
// folders and messages.
type dialect string

const (
	postgres dialect = "postgres"
	sqlite   dialect = "sqlite"
)

type kind int

const (
	word   kind = iota // identifier or keyword, quoted or not
	number             // numeric literal
	text               // string literal
	named              // @name, and :name or $name in SQLite
	bound              // $1, ?1 or ?
	punct              // any other single byte
)

type lexeme struct {
	kind kind
	text string
}

// is reports whether t is the given keyword; s is in lower case.
func (t lexeme) is(s string) bool {
	return (t.kind == word || t.kind == punct) && strings.EqualFold(t.text, s)
}

// lex splits a statement into tokens and drops white space and comments, so
// that what looks like an argument inside a string or a comment is none.
func lex(sql string, d dialect) []lexeme {
	l := lexer{src: sql, dialect: d}
	for l.pos < len(sql) {
		l.next()
	}
	return l.out
}

type lexer struct {
	src     string
	dialect dialect
	pos     int
	out     []lexeme
}

func (l *lexer) next() {
	rest := l.src[l.pos:]
	switch c := rest[0]; {
	case strings.IndexByte(" \t\r\n", c) >= 0:
		l.pos++
	case strings.HasPrefix(rest, "--"):
		l.pos += lineEnd(rest)
	case strings.HasPrefix(rest, "/*"):
		l.pos += l.commentEnd(rest)
	case c == '\'':
		l.take(text, quoteEnd(rest, '\'', false))
	case c == '"' || c == '`':
		l.take(word, quoteEnd(rest, c, false))
	case strings.IndexByte("@:$?", c) >= 0:
		l.argument(rest)
	case letter(c):
		l.word(rest)
	case digit(c):
		l.take(number, span(rest, func(c byte) bool { return digit(c) || letter(c) || c == '.' }))
	default:
		l.take(punct, 1)
	}
}

func (l *lexer) take(k kind, n int) {
	l.out = append(l.out, lexeme{k, l.src[l.pos : l.pos+n]})
	l.pos += n
}

// word takes an identifier, or PostgreSQL's E'…' whose backslashes escape.
func (l *lexer) word(rest string) {
	n := span(rest, func(c byte) bool { return letter(c) || digit(c) || c == '$' })
	if n == 1 && (rest[0] == 'e' || rest[0] == 'E') && strings.HasPrefix(rest[1:], "'") {
		l.take(text, 1+quoteEnd(rest[1:], '\'', true))
		return
	}
	l.take(word, n)
}

// argument takes what begins with @ : $ or ?, which the engines read differently.
func (l *lexer) argument(rest string) {
	digits := 1 + span(rest[1:], digit)
	name := 1 + span(rest[1:], func(c byte) bool { return letter(c) || digit(c) })
	startsName := len(rest) > 1 && letter(rest[1])
	switch {
	case rest[0] == '?' && l.dialect == sqlite:
		l.take(bound, digits)
	case rest[0] == '$' && l.dialect == postgres && digits > 1:
		l.take(bound, digits)
	case rest[0] == '$' && l.dialect == postgres:
		l.dollarQuote(rest)
	case rest[0] == '@' && startsName, l.dialect == sqlite && startsName && rest[0] != '?':
		l.take(named, name)
	default:
		l.take(punct, 1)
	}
}

// dollarQuote takes a $tag$…$tag$ string.
func (l *lexer) dollarQuote(rest string) {
	tag := 1 + span(rest[1:], func(c byte) bool { return letter(c) || digit(c) })
	if tag >= len(rest) || rest[tag] != '$' {
		l.take(punct, 1)
		return
	}
	quote := rest[:tag+1]
	end := strings.Index(rest[len(quote):], quote)
	if end < 0 {
		l.take(text, len(rest))
		return
	}
	l.take(text, end+2*len(quote))
}

// commentEnd is the length of a block comment; only PostgreSQL's nest.
func (l *lexer) commentEnd(rest string) int {
	depth := 0
	for i := 0; i+1 < len(rest); i++ {
		switch rest[i : i+2] {
		case "/*":
			if depth == 0 || l.dialect == postgres {
				depth++
			}
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(rest)
}

// quoteEnd is the length of the quoted text that rest begins with; a doubled
// quote stands for itself.
func quoteEnd(rest string, quote byte, backslash bool) int {
	for i := 1; i < len(rest); i++ {
		switch {
		case backslash && rest[i] == '\\':
			i++
		case rest[i] != quote:
		case i+1 < len(rest) && rest[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(rest)
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

func span(s string, in func(byte) bool) int {
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

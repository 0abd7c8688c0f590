package main

import "strings"

// clocks are the ways to ask the database for the time; operations are handed
// `now` instead, so that both engines and every replica agree on it.
var clocks = []string{
	"now", "current_timestamp", "current_date", "current_time", "localtime", "localtimestamp",
	"clock_timestamp", "transaction_timestamp", "statement_timestamp", "timeofday", "'now'",
}

// refuse holds the house rules of one statement.
func (s *statement) refuse(d dialect, found *problems) {
	if len(s.doc) == 0 || s.doc[0] == "" {
		found.add("%s: has no doc comment under its name line", s.at())
	}
	tokens := lex(s.sql, d)
	if len(tokens) == 0 {
		found.add("%s: has no SQL", s.at())
	}
	for i, t := range tokens {
		after := tokens[i+1:]
		s.refuseToken(t, after, found)
		if t.is(";") && len(after) > 0 {
			found.add("%s: a second statement follows: sqlc drops what has no -- name line", s.at())
		}
	}
}

func (s *statement) refuseToken(t lexeme, after []lexeme, found *problems) {
	switch {
	case t.kind == bound:
		found.add("%s: %s: name the argument (@name)", s.at(), t.text)
	case t.is("sqlc") && starts(after, ".", "slice"):
		found.add("%s: sqlc.slice%s: pass a row set as one JSON text argument", s.at(), operand(after[2:]))
	case t.is("offset"), t.is("limit") && limitPair(after):
		found.add("%s: OFFSET: page by keyset", s.at())
	case t.is("now") && !starts(after, "("): // a column may be called now
	default:
		for _, clock := range clocks {
			if t.is(clock) || t.kind == text && strings.EqualFold(t.text, clock) {
				found.add("%s: %s: hand the time in as @now", s.at(), clock)
			}
		}
	}
}

// starts reports whether tokens begin with the given keywords.
func starts(tokens []lexeme, words ...string) bool {
	if len(tokens) < len(words) {
		return false
	}
	for i, w := range words {
		if !tokens[i].is(w) {
			return false
		}
	}
	return true
}

// operand is the text of a one-token operand, as "(ids)"; "" for anything else.
func operand(tokens []lexeme) string {
	if len(tokens) < 3 || !tokens[0].is("(") || !tokens[2].is(")") {
		return ""
	}
	return "(" + tokens[1].text + ")"
}

// limitPair reports SQLite's `limit offset, count`.
func limitPair(tokens []lexeme) bool {
	depth := 0
	for _, t := range tokens {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 0:
			return true
		}
		if depth < 0 {
			return false
		}
	}
	return false
}

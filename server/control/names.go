package control

import (
	"cmp"
	"strings"
	"unicode"
)

// NameFault says what is wrong with a name that people read, such as a token's, an
// author or a title; "" if nothing is. Such a name is one line without hidden
// characters, which could end a line of a log, steer a terminal, or make the text
// read otherwise than it is; and no blank stands at an end, where nobody sees it.
// Its bounds are the caller's.
func NameFault(name string) string {
	switch {
	case strings.ContainsFunc(name, hidden):
		return "expected one line without control, bidirectional or invisible characters"
	case strings.TrimSpace(name) != name:
		return "expected no blank at either end"
	case name != "" && !strings.ContainsFunc(name, visible):
		return "expected a character that can be seen"
	}
	return ""
}

// hidden are control characters, ends of lines, and characters that only steer how
// others are shown, those that turn the direction of a text above all. Two of these
// pass, since words in Persian and emoji need them: the joiner and the non-joiner.
func hidden(r rune) bool {
	if unicode.In(r, unicode.Join_Control, unicode.Prepended_Concatenation_Mark) {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// visible are the characters that show something by themselves.
func visible(r rune) bool {
	const brailleBlank = '\u2800'
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)) && !hidden(r) && r != brailleBlank
}

// readableName is a stored name as it is written into rows and answers from now on:
// one from before NameFault may break its rule. If nothing is left of it, it is
// instead.
func readableName(name, instead string) string {
	name = strings.Map(func(r rune) rune {
		if hidden(r) {
			return ' '
		}
		return r
	}, name)
	return cmp.Or(strings.TrimSpace(name), instead)
}

package main

import (
	"regexp"
	"strings"
	"unicode"
)

// controlSequence is what a terminal acts on as a whole, such as a colour.
var controlSequence = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]`)

// printable is s on one line without what a terminal acts on: control sequences
// go, and every other character that is not printed becomes a space, those that
// turn the direction of a text too.
func printable(s string) string { return withoutControls(s, "") }

// readable is printable but for tabs and the ends of lines, which are all \n.
func readable(s string) string { return withoutControls(lineEnds.Replace(s), "\n\t") }

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func withoutControls(s, kept string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && !strings.ContainsRune(kept, r) {
			return ' '
		}
		return r
	}, controlSequence.ReplaceAllString(s, ""))
}

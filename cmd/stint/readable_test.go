package main

import (
	"strings"
	"testing"

	"github.com/stint-run/stint/cmd/stint/internal/conformance"
)

func TestTextForPeopleHoldsNothingThatATerminalActsOn(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"plain":                       {"plain", "plain"},
		"a\tb\nc\r\nd\re":             {"a b c  d e", "a\tb\nc\nd\ne"},
		"\x1b[1;31mred\x1b[0m":        {"red", "red"},
		"\u009b31mred":                {"red", "red"},
		"\x1b[2K\x1b[1A":              {"", ""},
		"\x1b[31":                     {" [31", " [31"},
		"\x1b]0;title\x07":            {" ]0;title ", " ]0;title "},
		"\x1bPq\x1b\\":                {" Pq \\", " Pq \\"},
		"\x00\x08\x7f\u0085\u009d":    {"     ", "     "},
		"a\u202eb\u2066c\u2069\u200f": {"a b c  ", "a b c  "},
		"\u2028\ufeff\ufffd é 日本":     {"  \ufffd é 日本", "  \ufffd é 日本"},
	} {
		if got := printable(in); got != want[0] {
			t.Errorf("%q on one line is %q, want %q", in, got, want[0])
		}
		if got := readable(in); got != want[1] {
			t.Errorf("%q is %q, want %q", in, got, want[1])
		}
	}
}

func TestVerdictOnAWorkerHoldsNothingThatATerminalActsOn(t *testing.T) {
	t.Parallel()
	const said = "a\x1b[2J\u202eb"
	var b strings.Builder
	printVerdict(&b, conformance.Verdict{State: conformance.Broken, Seen: said, Tape: []string{said}, Output: []string{said}})
	if got := b.String(); strings.Count(got, "a b\n") != 3 || strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("printed %q", got)
	}
}

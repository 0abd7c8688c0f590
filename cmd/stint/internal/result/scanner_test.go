package result

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

const followed = "the output ends in other text"

func TestTheResultIsTheTextThatEndsTheOutput(t *testing.T) {
	t.Parallel()
	big := `"` + strings.Repeat("x", Max-2) + `"`
	tests := map[string]struct{ out, want, warning string }{
		"nothing":                          {"", "", ""},
		"only white space":                 {" \n\r\n\t\n", "", ""},
		"no JSON":                          {"hello\n", "", "no line of the output begins a JSON text"},
		"one line":                         {"{\"a\":1}\n", `{"a":1}`, ""},
		"no line end":                      {`{"a":1}`, `{"a":1}`, ""},
		"a number":                         {"x\n12\n", "12", ""},
		"a number without a line end":      {"-1.5e+3", "-1.5e+3", ""},
		"a word":                           {"null\n\n", "null", ""},
		"a text":                           {"done\n\"a \\\"b\\u00e4\\\\\"\n", `"a \"b\u00e4\\"`, ""},
		"the last of a stream":             {"{\"a\":1}\n{\"a\":2}\n", `{"a":2}`, ""},
		"over many lines":                  {"{\"ids\":[\n10,\n20,\n30\n]\n}\n", "{\"ids\":[\n10,\n20,\n30\n]\n}", ""},
		"as jq prints a list":              {"[\n  10,\n  20,\n  30\n]\n", "[\n  10,\n  20,\n  30\n]", ""},
		"a value alone on a line":          {"{\n\"a\":\n\"text\"\n}\n", "{\n\"a\":\n\"text\"\n}", ""},
		"behind a progress line":           {"{\"progress\":50}\n{\n  \"n\": 1\n}\n", "{\n  \"n\": 1\n}", ""},
		"behind log lines":                 {"[INFO] begin\n[1/2] half\n2026-01-02 end\n[]\n", "[]", ""},
		"CRLF":                             {"{\r\n\"a\": 1\r\n}\r\n", "{\r\n\"a\": 1\r\n}", ""},
		"a mark before the output":         {"\ufeff{\"a\":1}\n", `{"a":1}`, ""},
		"a mark before the line":           {"x\n\ufeff {\"a\":1}\n", `{"a":1}`, ""},
		"half a mark":                      {"\xef\xbb{\"a\":1}\n", "", "no line"},
		"blanks before it":                 {"x\n \t [1, 2] \n\n", "[1, 2]", ""},
		"as large as is allowed":           {"x\n" + big + "\n", big, ""},
		"digits are kept":                  {"12345678901234567890\n", "12345678901234567890", ""},
		"followed by text":                 {"{\"a\":1}\ndone\n", `{"a":1}`, followed + `; the result is what begins on line 1: {"a":1}`},
		"an older one before it":           {"[1]\n\n{\"a\":1}\ndone\n", `{"a":1}`, "line 3"},
		"followed by a bracket":            {"[1]\n}\n", "[1]", followed},
		"followed on its line":             {"{\"a\":1} {\"b\":2}\n", "", "no line"},
		"a number before text":             {"[0]\n5\ndone\n", "[0]", "line 1"},
		"a word before text":               {"true\nfalse alarm\n", "", "no line"},
		"within what turns out to be none": {"[\n{\"a\":1}\n{\"b\":2}\n", `{"b":2}`, ""},
		"within a text that is followed on its line": {"[\n{\"a\":[\n[1]\n]}\n]]\n", "", "no line"},
		"unfinished":               {"{\"a\":1}\n{\"b\":[1,\n2", "", `on line 2 ({"b":[1,…) is unfinished`},
		"an unfinished word":       {"{\"a\":1}\ntru", "", "line 2 (tru) is unfinished"},
		"too large":                {"{\"a\":1}\n" + big[:Max-1] + `y"` + "\n", "", "line 2 (" + big[:40] + "…) is larger than 256 KiB"},
		"too large, then text":     {"{\"a\":1}\n[" + big + "]\ndone\n", "", "larger than 256 KiB"},
		"too large, then another":  {"[" + big + "]\n{\"a\":1}\n", `{"a":1}`, ""},
		"parts of a large one":     {"[\n" + strings.Repeat("{\"a\":1},\n", Max/9) + "{}\n]\n", "", "larger than 256 KiB"},
		"too deep":                 {"{\"a\":1}\n" + strings.Repeat("[", 65) + strings.Repeat("]", 65), "", "nested deeper than 64"},
		"far too deep":             {"{\"a\":1}\n" + strings.Repeat("[\n", 2000) + strings.Repeat("]\n", 2000), "", "nested"},
		"brackets in a text":       {`["\"` + strings.Repeat("[", 65) + `"]`, `["\"` + strings.Repeat("[", 65) + `"]`, ""},
		"deep enough":              {strings.Repeat("[\n", 64) + strings.Repeat("]\n", 64), strings.TrimSpace(strings.Repeat("[\n", 64) + strings.Repeat("]\n", 64)), ""},
		"not UTF-8":                {"{\"a\":1}\n\"\xff\"\n", "", "is not UTF-8"},
		"a line end within a text": {"[1]\n\"a\nb\"\n", "[1]", followed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{len(tt.out) + 1, 1} {
				got, warning := scan(&Scanner{}, tt.out, size)
				if got != tt.want || tt.warning == "" != (warning == "") || !strings.Contains(warning, tt.warning) {
					t.Errorf("got %.60q, %q; want %.60q, %q", got, warning, tt.want, tt.warning)
				}
			}
		})
	}
}

func scan(s *Scanner, out string, size int) (text, warning string) {
	for len(out) > 0 {
		n := min(size, len(out))
		_, _ = io.WriteString(s, out[:n])
		out = out[n:]
	}
	got, warning := s.End()
	return string(got), warning
}

// However the output is made, it costs a pass over its bytes: that is far below a
// second, while a scan from each line anew would take minutes for the first.
func TestEveryOutputIsReadInOnePass(t *testing.T) {
	t.Parallel()
	random := make([]byte, 1<<20)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	tests := map[string]string{
		"lists that are never whole": strings.Repeat(strings.Repeat("[\n", 1000)+strings.Repeat("1,\n", 80_000)+"x\n", 16),
		"open brackets":              strings.Repeat("[\n", 1<<19),
		"open brackets, then text":   strings.Repeat(strings.Repeat("[\n", 1000)+"x\n", 500),
		"closing brackets":           strings.Repeat("}\n", 1<<19),
		"binary":                     string(random),
		"one line of text":           strings.Repeat("x", 1<<20),
		"one text without an end":    `"` + strings.Repeat("x", 1<<20),
		"a stream":                   strings.Repeat("{\"a\":1}\n", 1<<17),
	}
	for name, out := range tests {
		t.Run(name, func(t *testing.T) {
			s, begun := &Scanner{}, time.Now()
			scan(s, out, 32<<10)
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("took %s for %d bytes", took, len(out))
			}
			if kept := cap(s.text) + cap(s.best.text); kept > 3*Max {
				t.Errorf("keeps %d bytes", kept)
			}
		})
	}
}

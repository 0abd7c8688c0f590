package work

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func newLines(prefix string) (*lines, *bytes.Buffer) {
	var to bytes.Buffer
	return &lines{sink: &sink{to: &to}, prefix: prefix}, &to
}

func TestTheLastLineOfJSONIsKept(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		writes []string
		want   string
	}{
		"none":                   {[]string{"a\nb\n"}, ""},
		"the last of several":    {[]string{"1\n2\nx\n"}, "2"},
		"cut anywhere":           {[]string{`{"a`, `":1`, "}\n"}, `{"a":1}`},
		"without a line end":     {[]string{"1\n", `"end"`}, `"end"`},
		"with spaces":            {[]string{"  [1, 2] \r\n"}, "[1, 2]"},
		"blank lines are none":   {[]string{"1\n\n \n"}, "1"},
		"two values are none":    {[]string{"1 2\n"}, ""},
		"as large as is allowed": {[]string{`"` + strings.Repeat("x", maxResult-2) + `"`, "\n"}, `"` + strings.Repeat("x", maxResult-2) + `"`},
		"too large is none":      {[]string{"1\n" + `"` + strings.Repeat("x", maxResult) + `"` + "\n"}, "1"},
		"the end of a long line": {[]string{"1\n" + strings.Repeat("x", maxResult+1), "2\n"}, "1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := newLines("")
			for _, s := range tt.writes {
				if n, err := io.WriteString(l, s); n != len(s) || err != nil {
					t.Fatalf("wrote %d of %d: %v", n, len(s), err)
				}
			}
			l.end()
			if string(l.lastJSON) != tt.want {
				t.Errorf("got %.40q, want %.40q", l.lastJSON, tt.want)
			}
		})
	}
}

func TestOutputIsPassedOnInWholeLines(t *testing.T) {
	t.Parallel()
	l, to := newLines("[job_1] ")
	for _, s := range []string{"a", "b\nc\n\nd"} {
		_, _ = io.WriteString(l, s)
	}
	if want := "[job_1] ab\n[job_1] c\n[job_1] \n"; to.String() != want {
		t.Errorf("got %q, want %q", to, want)
	}
	l.end()
	if !strings.HasSuffix(to.String(), "[job_1] d\n") {
		t.Errorf("the last line is missing: %q", to)
	}
}

func TestWhatIsKeptOfOutputIsBounded(t *testing.T) {
	t.Parallel()
	l := &lines{sink: &sink{to: io.Discard}}
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 64 {
		_, _ = l.Write(chunk)
	}
	if kept := cap(l.line) + cap(l.end4k) + len(l.lastJSON); kept > 4<<20 {
		t.Errorf("%d bytes are kept of 64 MiB without a line end", kept)
	}
}

func TestTheTailIsTextThatTheServerTakes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, ends string }{
		"short":                   {"why\n", "why"},
		"cut within a character":  {strings.Repeat("ä", maxTail) + "x", "äx"},
		"bytes that are no UTF-8": {strings.Repeat("\xff", maxTail), "\uFFFD"},
		"NUL":                     {"a\x00b", "a\uFFFDb"},
		"blank":                   {" \n", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := newLines("")
			_, _ = io.WriteString(l, tt.in)
			got := l.tail()
			if len(got) > maxTail || !utf8.ValidString(got) || strings.ContainsRune(got, 0) || !strings.HasSuffix(got, tt.ends) {
				t.Errorf("%d bytes, ends in %q", len(got), got[max(0, len(got)-8):])
			}
			if strings.HasPrefix(tt.in, "ä") && !strings.HasPrefix(got, "ä") {
				t.Errorf("begins with %q", got[:4])
			}
		})
	}
}

package outcome

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheTailIsTextThatTheServerTakes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, begins, ends string }{
		"short":                   {"why\n", "why", "why"},
		"cut within a character":  {strings.Repeat("ä", MaxText) + "x", "… ä", "äx"},
		"cut before its end":      {strings.Repeat("😀", MaxText) + "x", "… 😀", "😀x"},
		"bytes that are no UTF-8": {strings.Repeat("x\xff", MaxText), "… x", "\ufffd"},
		"NUL":                     {"a\x00b", "a\ufffdb", "b"},
		"blank":                   {" \n", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l tail
			for _, part := range []string{tt.in[:len(tt.in)/3], tt.in[len(tt.in)/3:]} {
				l.write([]byte(part))
			}
			checkText(t, l.text(), tt.begins, tt.ends)
		})
	}
}

func TestAWarningIsTextThatTheServerTakes(t *testing.T) {
	t.Parallel()
	if got := join("", "a\x00", "\xff"); got != "a\ufffd; \ufffd" {
		t.Errorf("%q", got)
	}
}

func checkText(t *testing.T, got, begins, ends string) {
	t.Helper()
	if len(got) > MaxText || !utf8.ValidString(got) || !strings.HasPrefix(got, begins) || !strings.HasSuffix(got, ends) {
		t.Errorf("%d bytes, from %.8q to %q", len(got), got, got[max(0, len(got)-8):])
	}
}

func TestATailIsBounded(t *testing.T) {
	t.Parallel()
	var l tail
	for range 64 {
		l.write(bytes.Repeat([]byte("x"), 1<<20))
	}
	if cap(l.end) > 4*MaxText {
		t.Errorf("keeps %d bytes", cap(l.end))
	}
}

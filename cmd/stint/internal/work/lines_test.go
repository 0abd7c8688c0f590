package work

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func newLines(prefix string) (*lines, *bytes.Buffer) {
	var to bytes.Buffer
	return &lines{to: &to, prefix: []byte(prefix)}, &to
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

func TestWhatIsKeptOfALineIsBounded(t *testing.T) {
	t.Parallel()
	l := &lines{to: io.Discard}
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 64 {
		_, _ = l.Write(chunk)
	}
	if kept := cap(l.line); kept > 4<<20 {
		t.Errorf("%d bytes are kept of 64 MiB without a line end", kept)
	}
}

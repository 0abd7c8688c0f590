package work

import (
	"bytes"
	"io"
	"slices"
)

// maxLine is how many bytes of a line are kept until its end comes.
const maxLine = 256 << 10

// lines passes a command's output on in whole lines.
type lines struct {
	to     io.Writer // several commands share it, and other processes too
	prefix []byte
	line   []byte // begun and not ended
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		head, rest, ended := bytes.Cut(p, []byte("\n"))
		l.line = append(l.line, head...)
		if ended || len(l.line) > maxLine {
			l.flush()
		}
		p = rest
	}
	return n, nil
}

// flush ends the line.
func (l *lines) flush() {
	_, _ = l.to.Write(slices.Concat(l.prefix, l.line, []byte("\n"))) // the work counts, not who listens to it
	l.line = l.line[:0]
}

// end is called when no more comes: a last line may lack its line end.
func (l *lines) end() {
	if len(l.line) > 0 {
		l.flush()
	}
}

package work

import (
	"bytes"
	"io"
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
	var whole []byte
	for len(p) > 0 {
		head, rest, ended := bytes.Cut(p, []byte("\n"))
		l.line = append(l.line, head...)
		if ended || len(l.line) > maxLine {
			whole = l.flush(whole)
		}
		p = rest
	}
	l.pass(whole)
	return n, nil
}

// flush ends the line, behind those that are whole.
func (l *lines) flush(whole []byte) []byte {
	whole = append(append(append(whole, l.prefix...), l.line...), '\n')
	l.line = l.line[:0]
	return whole
}

func (l *lines) pass(whole []byte) {
	if len(whole) > 0 {
		_, _ = l.to.Write(whole) // the work counts, not who listens to it
	}
}

// end is called when no more comes: a last line may lack its line end.
func (l *lines) end() {
	if len(l.line) > 0 {
		l.pass(l.flush(nil))
	}
}

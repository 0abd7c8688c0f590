package work

import (
	"bytes"
	"io"
	"sync"
)

// maxLine is how many bytes of a line are kept until its end comes.
const maxLine = 256 << 10

// sink is an output that several commands share, line by line.
type sink struct {
	mu sync.Mutex
	to io.Writer
}

// write writes the parts at once: other processes may share the output too.
func (s *sink) write(parts ...[]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.to.Write(bytes.Join(parts, nil)) // the work counts, not who listens to it
}

// lines passes a command's output on in whole lines.
type lines struct {
	sink   *sink
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
	l.sink.write(l.prefix, l.line, []byte("\n"))
	l.line = l.line[:0]
}

// end is called when no more comes: a last line may lack its line end.
func (l *lines) end() {
	if len(l.line) > 0 {
		l.flush()
	}
}

package work

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	maxResult = 256 << 10 // bytes; the server takes no larger result
	maxTail   = 4 << 10   // bytes of an error message
)

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

// lines passes a command's output on in whole lines, and keeps what a report
// needs: the last line that is JSON, and the end of it all. What it keeps is
// bounded whatever the command writes.
type lines struct {
	sink     *sink
	prefix   string
	line     []byte // begun and not ended
	long     bool   // the line began with more than maxResult bytes, which are gone
	lastJSON json.RawMessage
	end4k    []byte
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	l.keepEnd(p)
	for len(p) > 0 {
		head, rest, ended := bytes.Cut(p, []byte("\n"))
		l.line = append(l.line, head...)
		if ended {
			l.flush()
		} else if len(l.line) > maxResult {
			l.sink.write(l.lead(), l.line, []byte("\n"))
			l.line, l.long = nil, true
		}
		p = rest
	}
	return n, nil
}

// lead is what stands before a line.
func (l *lines) lead() []byte { return []byte(l.prefix) }

// flush ends the line.
func (l *lines) flush() {
	l.sink.write(l.lead(), l.line, []byte("\n"))
	text := bytes.TrimSpace(l.line)
	if !l.long && len(text) > 0 && len(text) <= maxResult && json.Valid(text) {
		l.lastJSON = bytes.Clone(text)
	}
	l.line, l.long = l.line[:0], false
}

// end is called when no more comes: a last line may lack its line end.
func (l *lines) end() {
	if len(l.line) > 0 {
		l.flush()
	}
}

func (l *lines) keepEnd(p []byte) {
	if len(p) > maxTail {
		p = p[len(p)-maxTail:]
	}
	l.end4k = append(l.end4k, p...)
	if extra := len(l.end4k) - maxTail; extra > 0 {
		l.end4k = append(l.end4k[:0], l.end4k[extra:]...)
	}
}

// tail is the end of the output as text that the server takes: at most 4 KiB,
// from the beginning of a character, without NUL.
func (l *lines) tail() string {
	b := l.end4k
	for i := 0; len(b) > 0 && i < 3 && b[0]&0xC0 == 0x80; i++ {
		b = b[1:]
	}
	text := strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\x00", "\uFFFD")
	for len(text) > maxTail {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return strings.TrimSpace(text)
}

// Package result finds the result of a job in what its command prints: the JSON
// text that begins a line and after which only white space follows. A text may
// have many lines; blanks, and a byte order mark, may stand before it.
//
// If other text follows, it is the last object or array that begins and ends on
// lines, outside of any other such text. A number or a word is too common among
// other text to be taken then.
package result

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Max is the size of the largest result, in bytes; the server takes no larger one.
const Max = 256 << 10

// Scanner reads an output as it comes. It keeps at most two texts of Max bytes,
// and looks at each byte once: a text that turns out to be none is not read
// again for what begins within it, since the objects and arrays of it that stand
// on lines of their own were noted on the way. The zero value is ready.
type Scanner struct {
	max   int // 0: Max; smaller in tests
	mode  mode
	place place
	marks int  // bytes of a byte order mark
	line  int  // complete lines so far
	some  bool // there was more than white space

	parser parser
	text   []byte // the text that is being read, or the last one and it is whole
	begun  int    // its line
	large  bool   // it is larger than max, and not kept
	inner  inner

	best found  // the last object or array after which other text followed
	lack string // why the last text cannot be the result; it counts if there is no best
}

// mode is how the next byte is read.
type mode int

const (
	between mode = iota // a line has begun with no more than blanks
	skip                // the rest of the line is of no interest
	within              // a text
	behind              // a text has ended on this line
	done                // a text has ended with its line
)

// place is where in its line a byte stands.
type place int

const (
	atStart place = iota
	atIndent
	further
)

// found is a text, and the line that it begins.
type found struct {
	text []byte
	line int
}

// Write takes the next piece of output. It never fails.
func (s *Scanner) Write(p []byte) (int, error) {
	for i := s.pass(p); i < len(p); i += s.pass(p[i:]) {
		s.take(p[i])
		i++
	}
	return len(p), nil
}

// pass is how many bytes there are at once in which nothing can begin or end.
func (s *Scanner) pass(p []byte) (n int) {
	switch {
	case s.mode == skip:
		if n = bytes.IndexByte(p, '\n'); n < 0 {
			n = len(p)
		}
	case s.mode == within && s.parser.state == inString:
		for n < len(p) && p[n] >= ' ' && p[n] != '"' && p[n] != '\\' {
			n++
		}
		s.keep(p[:n])
	}
	return n
}

// take reads a byte, and then notes where the next one stands.
func (s *Scanner) take(c byte) {
	s.some = s.some || !blank(c) && c != '\n'
	switch s.mode {
	case between:
		s.between(c)
	case within:
		s.within(c)
	case behind:
		s.behind(c)
	case done:
		s.done(c)
	}
	switch {
	case c == '\n':
		s.line++
		s.place, s.marks = atStart, 0
		if s.mode == skip {
			s.mode = between
		}
	case blank(c):
		s.place = max(s.place, atIndent)
	default:
		s.place = further
	}
}

// between looks for the beginning of a text.
func (s *Scanner) between(c byte) {
	switch {
	case s.mark(c):
		return
	case 0 < s.marks && s.marks < len(mark):
		s.mode = skip
		return
	case blank(c), c == '\n':
		return
	case !begins(c):
		s.mode = skip
		return
	}
	s.parser.reset()
	s.inner.reset()
	s.text, s.begun, s.large = s.text[:0], s.line, false
	s.mode = within
	s.within(c)
}

// mark is the byte order mark.
const mark = "\ufeff"

// mark takes the bytes of a byte order mark at the beginning of a line.
func (s *Scanner) mark(c byte) bool {
	if s.place == atStart && s.marks == 0 || 0 < s.marks && s.marks < len(mark) {
		if c == mark[s.marks] {
			s.marks++
			return true
		}
	}
	return false
}

// within goes on with the text.
func (s *Scanner) within(c byte) {
	s.inner.follow(c)
	e := s.parser.next(c)
	switch e {
	case over:
		s.mode = behind
		s.behind(c)
		return
	case broken, tooDeep:
		s.fail(c, e)
		return
	case opens:
		s.inner.open(len(s.text), s.line, s.place < further)
	case closes:
		s.inner.close(len(s.text) + 1)
	}
	s.keep([]byte{c})
}

// keep adds to the text that is being read, unless it is too large.
func (s *Scanner) keep(p []byte) {
	switch {
	case s.large:
	case len(s.text)+len(p) > s.limit():
		s.forget("is larger than 256 KiB")
		s.large, s.text = true, s.text[:0]
	default:
		s.text = append(s.text, p...)
	}
}

func (s *Scanner) limit() int {
	if s.max > 0 {
		return s.max
	}
	return Max
}

// forget says that the text which is being read is the last one, and of no use.
func (s *Scanner) forget(lack string) {
	s.best = found{}
	s.lack = fmt.Sprintf("the JSON text on line %d (%s) %s", s.begun+1, short(s.text), lack)
}

// fail ends a text that is none. The byte may begin another one.
func (s *Scanner) fail(c byte, e event) {
	s.mode = skip
	if s.place < further { // a line of its own
		s.mode = between
	}
	last := s.inner.last
	switch {
	case s.large:
	case e == tooDeep:
		s.forget("is nested too deep")
	case last.end > 0:
		s.note(s.text[last.start:last.end], last.line)
	}
	if s.mode == between {
		s.between(c)
	}
}

// behind reads the rest of the line on which a text ended.
func (s *Scanner) behind(c byte) {
	switch {
	case blank(c):
	case c == '\n' && !s.large:
		s.mode = done
	default:
		s.mode = skip
	}
}

// done waits for what follows the text. If something does, it was not the last.
func (s *Scanner) done(c byte) {
	if blank(c) || c == '\n' {
		return
	}
	if s.text[0] == '{' || s.text[0] == '[' {
		s.note(s.text, s.begun)
	}
	s.mode = between
	s.between(c)
}

// note keeps a text as the best so far.
func (s *Scanner) note(text []byte, line int) {
	s.best = found{append(s.best.text[:0], text...), line}
}

// End is called when no more comes. The text is nil if there is no result; the
// warning says why, or what is odd about the result. An output without anything
// but white space has neither result nor warning.
func (s *Scanner) End() (text json.RawMessage, warning string) {
	whole := s.mode == done || s.mode == behind || s.mode == within && s.parser.complete()
	switch {
	case whole && !s.large:
		return checked(found{s.text, s.begun}, "")
	case s.mode == within && !s.large:
		s.forget("is unfinished")
	}
	switch {
	case s.best.text != nil:
		return checked(s.best, fmt.Sprintf("the output ends in other text; the result is what begins on line %d: %s", s.best.line+1, short(s.best.text)))
	case s.lack != "":
		return nil, s.lack + "; the result is null"
	case s.some:
		return nil, "no line of the output begins a JSON text that ends on a line; the result is null"
	}
	return nil, ""
}

// checked is the text with the warning, or null if the server would not take it.
func checked(f found, warning string) (json.RawMessage, string) {
	if err := Check(f.text); err != nil {
		return nil, fmt.Sprintf("the JSON text on line %d (%s) %v; the result is null", f.line+1, short(f.text), err)
	}
	return bytes.Clone(f.text), warning
}

// short is the beginning of a text as a warning shows it.
func short(text []byte) string {
	const most = 40
	text, _, cut := bytes.Cut(text[:min(len(text), 2*most)], []byte("\n"))
	if len(text) > most {
		text, cut = text[:most], true
	}
	mark := ""
	if cut {
		mark = "…"
	}
	return string(bytes.ToValidUTF8(text, []byte("\ufffd"))) + mark
}

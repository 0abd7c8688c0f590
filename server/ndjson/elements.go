package ndjson

import (
	"bufio"
	"errors"
	"io"
)

// Elements splits r, which holds one JSON array, into its elements, without the
// white space around them. Brackets and quotation marks alone are looked at: an
// element that is no JSON is an element like any other. One of more than limit bytes
// has no Raw.
func Elements(r io.Reader, limit int) Items {
	return &elements{from: bufio.NewReaderSize(r, readSize), limit: int64(limit), part: held{bound: limit}}
}

type elements struct {
	from  *bufio.Reader
	part  held
	limit int64
	index int64
	at    int64 // of the next byte in the body
	state state
}

// state is what of the array has been read.
type state int

const (
	before state = iota // nothing
	opened              // its bracket: an element or the end may follow
	within              // a comma: an element must follow
	after               // all of it
)

func (e *elements) Next() (Item, error) {
	if e.state == before {
		if err := e.open(); err != nil {
			return Item{}, err
		}
	}
	if e.state == after {
		return Item{}, e.over()
	}
	c, err := e.inked("the array is not closed")
	switch {
	case err != nil:
		return Item{}, err
	case c == ']' && e.state == opened:
		e.skip()
		e.state = after
		return Item{}, e.over()
	case c == ',' || c == ']':
		return Item{}, e.broken("an element is missing")
	}
	return e.element()
}

func (e *elements) open() error {
	c, err := e.inked("the body is empty")
	if err == nil && c != '[' {
		err = e.broken("the body is not a JSON array")
	}
	if err != nil {
		return err
	}
	e.skip()
	e.state = opened
	return nil
}

// over sees to it that nothing but white space follows.
func (e *elements) over() error {
	_, err := e.inked("")
	if err == nil {
		return e.broken("text follows the array")
	}
	if b, ok := errors.AsType[*Broken](err); ok && b.What == "" {
		return io.EOF
	}
	return err
}

// inked is the next byte that is no white space, which stays unread; at the end of
// the body it is a Broken.
func (e *elements) inked(atEnd string) (byte, error) {
	for {
		piece, err := e.more(atEnd)
		if err != nil {
			return 0, err
		}
		for i, c := range piece {
			if !space(c) {
				e.take(i)
				return c, nil
			}
		}
		e.take(len(piece))
	}
}

// more is what has been read of the body and not yet taken, at least a byte.
func (e *elements) more(atEnd string) ([]byte, error) {
	if _, err := e.from.Peek(1); errors.Is(err, io.EOF) {
		return nil, e.broken(atEnd)
	} else if err != nil {
		return nil, err
	}
	return e.from.Peek(e.from.Buffered())
}

func (e *elements) take(n int) {
	_, _ = e.from.Discard(n) // no more than Peek gave
	e.at += int64(n)
}

func (e *elements) skip() { e.take(1) }

func (e *elements) broken(what string) error {
	return &Broken{Element: e.index, Byte: e.at, What: what}
}

// element reads up to the comma or bracket behind an element.
func (e *elements) element() (Item, error) {
	e.part.reset()
	var s scan
	for {
		piece, err := e.more("the array is not closed")
		if err != nil {
			return Item{}, err
		}
		n, end := s.over(piece)
		e.part.add(piece[:n])
		e.take(n)
		if end == 0 {
			continue
		}
		e.skip()
		e.state = within
		if end == ']' {
			e.state = after
		}
		e.index++
		return e.part.item(e.index-1, s.inked, e.limit), nil
	}
}

// scan finds the end of an element, over any number of pieces.
type scan struct {
	depth           int64 // of open brackets, of either kind
	quoted, escaped bool
	size, inked     int64 // of what was seen; up to the last byte that is no white space
}

// over looks at a piece. end is the byte behind the element, which stands at n; 0 if
// the element goes on.
func (s *scan) over(piece []byte) (n int, end byte) {
	for i, c := range piece {
		switch {
		case s.quoted:
			s.quote(c)
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.depth++
		case (c == ',' || c == ']') && s.depth == 0:
			s.size += int64(i)
			return i, c
		case (c == '}' || c == ']') && s.depth > 0:
			s.depth--
		}
		if !space(c) {
			s.inked = s.size + int64(i) + 1
		}
	}
	s.size += int64(len(piece))
	return len(piece), 0
}

// quote looks at a byte of a string.
func (s *scan) quote(c byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.quoted = false
	}
}

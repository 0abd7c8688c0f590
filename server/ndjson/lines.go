package ndjson

import (
	"bufio"
	"errors"
	"io"
	"slices"
)

// Lines splits r at each newline; a carriage return before it belongs to the line's
// end. The last line may lack an end. Blank lines are counted and skipped. A line of
// more than limit bytes has no Raw.
func Lines(r io.Reader, limit int) Items {
	return &lines{
		from: bufio.NewReaderSize(r, readSize), limit: int64(limit),
		line: held{bound: limit + 1}, // and a carriage return
	}
}

type lines struct {
	from  *bufio.Reader
	line  held
	limit int64
	index int64
}

func (l *lines) Next() (Item, error) {
	for {
		it, err := l.read()
		if err != nil || it.Raw == nil || slices.ContainsFunc(it.Raw, inked) {
			return it, err
		}
	}
}

func inked(c byte) bool { return !space(c) }

// read reads the next line, a blank one too. A line that the reader's error cuts
// off is no line.
func (l *lines) read() (Item, error) {
	l.line.reset()
	for {
		piece, err := l.from.ReadSlice('\n')
		l.line.add(piece)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil:
			return l.end(1), nil
		case errors.Is(err, io.EOF) && l.line.size > 0:
			return l.end(0), nil
		default:
			return Item{}, err
		}
	}
}

// end is the line without the newline, if it has one, and a carriage return before
// that.
func (l *lines) end(newline int64) Item {
	n := l.line.size - newline
	if n > 0 && n <= int64(len(l.line.bytes)) && l.line.bytes[n-1] == '\r' {
		n--
	}
	l.index++
	return l.line.item(l.index-1, n, l.limit)
}

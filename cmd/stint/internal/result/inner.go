package result

// inner follows the objects and arrays within a text that begin a line. Should
// the text turn out to be none, the last of them that also ended with a line is
// what a scan from each line anew would have found.
type inner struct {
	frames  []frame
	pending span // ended, with no more than blanks since
	last    span
}

// span is a part of a text, and the line that it begins; end is 0 if there is none.
type span struct{ start, end, line int }

// frame is an object or array that is open.
type frame struct {
	span
	begins bool // a line
	before span // what was last when it began
}

func (i *inner) reset() { *i = inner{frames: i.frames[:0]} }

// follow looks at a byte of the text before the parser does.
func (i *inner) follow(c byte) {
	switch {
	case blank(c) || i.pending.end == 0:
		return
	case c == '\n':
		i.last = i.pending
	}
	i.pending = span{}
}

func (i *inner) open(at, line int, begins bool) {
	i.frames = append(i.frames, frame{span: span{start: at, line: line}, begins: begins, before: i.last})
}

// close ends the object or array that was opened last. Those within it are parts
// of it, and no longer texts of their own.
func (i *inner) close(end int) {
	f := i.frames[len(i.frames)-1]
	i.frames = i.frames[:len(i.frames)-1]
	if f.begins {
		i.last = f.before
		i.pending = span{f.start, end, f.line}
	}
}

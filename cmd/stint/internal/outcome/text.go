package outcome

import (
	"strings"
	"unicode/utf8"
)

// MaxText bounds a message and a warning, in bytes; the server cuts them there, and
// says so at their end.
const MaxText = 4 << 10

// tail is the end of an output.
type tail struct {
	end []byte
	cut bool // there was more before
}

// beforeTail stands before a text whose beginning was cut.
const beforeTail = "… "

func (t *tail) write(p []byte) {
	t.cut = t.cut || len(t.end)+len(p) > MaxText
	if len(p) > MaxText {
		p = p[len(p)-MaxText:]
	}
	t.end = append(t.end, p...)
	if extra := len(t.end) - MaxText; extra > 0 {
		t.end = append(t.end[:0], t.end[extra:]...)
	}
}

// text is the tail as the server takes it: at most 4 KiB, from the beginning of a
// character, without NUL.
func (t *tail) text() string {
	b := t.end
	for i := 0; len(b) > 0 && i < 3 && b[0]&0xC0 == 0x80; i++ {
		b = b[1:]
	}
	text, before := clean(string(b)), ""
	if t.cut || len(text) > MaxText {
		before = beforeTail
	}
	for len(before)+len(text) > MaxText {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return before + strings.TrimSpace(text)
}

// clean is text without what the server does not take.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

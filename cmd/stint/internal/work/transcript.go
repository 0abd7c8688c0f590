package work

import (
	"fmt"
	"sync"
	"unicode/utf8"
)

const (
	maxPart = 64 << 10 // bytes of text in one append to the log
	maxNote = 64       // bytes of the note that some are left out
)

// transcript is what a command prints, both outputs in the order they came, on
// its way to the log of the run. It keeps the end of what is too much.
type transcript struct {
	max int // bytes of one part; 0 keeps nothing

	mu      sync.Mutex
	text    []byte
	skipped int64 // bytes that are left out before text
}

func (t *transcript) Write(p []byte) (int, error) {
	if t.max == 0 {
		return len(p), nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text = append(t.text, p...); len(t.text) > 2*t.max {
		t.keep(t.max)
	}
	return len(p), nil
}

// keep leaves the last bytes of the text, from the beginning of a character on.
func (t *transcript) keep(size int) {
	extra := len(t.text) - size
	if extra <= 0 {
		return
	}
	for i := 0; i < utf8.UTFMax-1 && extra < len(t.text) && !utf8.RuneStart(t.text[extra]); i++ {
		extra++
	}
	t.skipped += int64(extra)
	t.text = append(t.text[:0], t.text[extra:]...)
}

// part is what one append takes to the log.
type part struct {
	text    string
	printed int64 // bytes of the output in it
	skipped int64 // bytes that are left out before it
}

// part takes what came since the last part; its text is empty if nothing did. A
// character that has only begun stays for the next part, unless this is the last.
func (t *transcript) part(last bool) part {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(t.max)
	note := ""
	if t.skipped > 0 {
		t.keep(maxPart - maxNote)
		note = fmt.Sprintf("[%d bytes of output are left out here]\n", t.skipped)
	}
	end := len(t.text)
	if !last {
		end -= begun(t.text)
	}
	if end == 0 {
		return part{}
	}
	p := part{note + string(t.text[:end]), int64(end), t.skipped}
	t.text, t.skipped = append(t.text[:0], t.text[end:]...), 0
	return p
}

// omit counts a part that could not be appended as left out.
func (t *transcript) omit(p part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.skipped += p.skipped + p.printed
}

// begun is how many bytes at the end of the text begin a character.
func begun(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if b := text[len(text)-n:]; utf8.RuneStart(b[0]) {
			if utf8.FullRune(b) {
				return 0
			}
			return n
		}
	}
	return 0
}

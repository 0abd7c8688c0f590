// Package output writes to a standard output or error for a process that must go
// on when nobody reads it, when it is closed, or when its disk is full.
//
// A Writer never fails and hardly waits. It keeps a bounded queue of lines, which
// a goroutine writes. Lines that find no room are left out, and so are lines that
// cannot be written; once writing works again, a line in their place says how many.
package output

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	// capacity is the size of the queue in bytes. A patient writer leaves reserve
	// of it free, for the lines of those that do not wait.
	capacity = 1 << 20
	reserve  = capacity / 4
	// patience is how long a patient writer waits for room.
	patience = time.Second
	// Other processes may write to the same pipe. The kernel keeps a write of up
	// to so many bytes in one piece.
	atOnce = 4 << 10
)

// Writer is an output. Give it whole lines: each Write is written or left out as a
// whole.
type Writer struct {
	to   io.Writer
	more chan struct{} // wakes the goroutine that writes

	mu      sync.Mutex
	moved   chan struct{} // closed and made anew when something was written
	waiting []byte
	idle    bool // nothing waits and nothing is being written
	behind  bool // there was no room; nothing is taken until all that waits is written
	missing int  // lines that were left out and not yet told of
	torn    bool // the last line that was written lacks its end
}

// New is a Writer on an output of this process.
func New(to io.Writer) *Writer {
	w := &Writer{to: to, more: make(chan struct{}, 1), moved: make(chan struct{}), idle: true}
	go w.write()
	return w
}

// Write queues p, or leaves it out. It does not wait.
func (w *Writer) Write(p []byte) (int, error) {
	w.put(p, capacity)
	return len(p), nil
}

// Patient is the same output for a source that a slow reader should slow down, such
// as a command that prints much: each write waits up to a second for room. If the
// reader stands still, only the first write waits.
func (w *Writer) Patient() io.Writer { return patient{w} }

type patient struct{ *Writer }

func (w patient) Write(p []byte) (int, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		moved, wait := w.full(len(p), capacity-reserve)
		if !wait {
			break
		}
		select {
		case <-moved:
			continue
		case <-timer.C:
		}
		break
	}
	w.put(p, capacity-reserve)
	return len(p), nil
}

// full tells whether it is worth waiting for room, and for what.
func (w *Writer) full(n, limit int) (moved chan struct{}, wait bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moved, !w.behind && !w.fits(n, limit)
}

// fits: a line that is larger than the queue has it to itself.
func (w *Writer) fits(n, limit int) bool {
	return len(w.waiting) == 0 || len(w.waiting)+n <= limit
}

func (w *Writer) put(p []byte, limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.behind || !w.fits(len(p), limit) {
		w.behind = true
		w.missing += lines(p)
		return
	}
	w.waiting, w.idle = append(w.waiting, p...), false
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// Flush waits until all is written, up to d.
func (w *Writer) Flush(d time.Duration) {
	late := time.After(d)
	for {
		w.mu.Lock()
		moved, idle := w.moved, w.idle
		w.mu.Unlock()
		if idle {
			return
		}
		select {
		case <-moved:
		case <-late:
			return
		}
	}
}

// write writes what waits, for as long as the process lives.
func (w *Writer) write() {
	failed := false
	for {
		p := w.take(failed)
		if len(p.text) == 0 {
			<-w.more
			continue
		}
		n, err := w.to.Write(p.text)
		failed = err != nil
		w.wrote(p, n)
	}
}

// piece is what is written at once.
type piece struct {
	text []byte
	note int // bytes at its beginning that say how many lines are missing
	told int // so many
}

// take is what to write next, or nothing. An output that failed is tried again
// with the next line, not only to say what is missing.
func (w *Writer) take(failed bool) (p piece) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		w.behind = false
	}
	if len(w.waiting) == 0 && (failed || w.missing == 0) {
		w.idle = true
		w.signal()
		return p
	}
	if w.missing > 0 && !w.behind {
		p.text = w.note()
		p.note, p.told, w.missing = len(p.text), w.missing, 0
	}
	n := head(w.waiting)
	p.text = append(p.text, w.waiting[:n]...)
	if w.waiting = w.waiting[n:]; len(w.waiting) == 0 {
		w.waiting = nil // the memory of a long queue is not kept
	}
	return p
}

// note says how many lines are missing, on a line of its own.
func (w *Writer) note() []byte {
	note := fmt.Sprintf("stint: lines missing here: %d; they were not read in time, or could not be written\n", w.missing)
	if w.torn {
		note = "\n" + note
	}
	return []byte(note)
}

// wrote counts what was lost of a piece of which n bytes were written.
func (w *Writer) wrote(p piece, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n > 0 {
		w.torn = p.text[n-1] != '\n'
	}
	if n < p.note {
		w.missing += p.told
	}
	w.missing += lines(p.text[max(n, p.note):])
	w.signal()
}

func (w *Writer) signal() {
	close(w.moved)
	w.moved = make(chan struct{})
}

// head is how much of text to write at once: whole lines of up to atOnce bytes,
// or one line that is longer.
func head(text []byte) int {
	if end := bytes.LastIndexByte(text[:min(len(text), atOnce)], '\n'); end >= 0 {
		return end + 1
	}
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return end + 1
	}
	return len(text)
}

// lines counts the lines of p, also one that has no end.
func lines(p []byte) int {
	n := bytes.Count(p, []byte("\n"))
	if len(p) > 0 && p[len(p)-1] != '\n' {
		n++
	}
	return n
}

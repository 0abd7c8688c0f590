package main

import (
	"fmt"
	"io"
	"time"
)

// Progress is a line that changes on a terminal, and a line now and then
// elsewhere: a log that is read later should hold neither nothing nor all.
const (
	redrawEvery = 100 * time.Millisecond
	lineEvery   = 5 * time.Second
)

type progress struct {
	w         io.Writer
	what      string
	total     int // 0: unknown
	n         int
	terminal  bool
	quiet     bool
	began     time.Time
	shown     time.Time
	unwritten bool // the terminal's line is open
}

func newProgress(g *globals, w io.Writer, what string, total int) *progress {
	now := time.Now()
	return &progress{w: w, what: what, total: total, quiet: g.quiet, terminal: isTerminal(w), began: now, shown: now}
}

func (p *progress) add(n int) {
	p.n += n
	every := lineEvery
	if p.terminal {
		every = redrawEvery
	}
	if time.Since(p.shown) >= every {
		p.show()
	}
}

func (p *progress) show() {
	if p.quiet {
		return
	}
	p.shown = time.Now()
	text := fmt.Sprintf("%d %s", p.n, p.what)
	if p.total > 0 {
		text = fmt.Sprintf("%d of %d %s", p.n, p.total, p.what)
	}
	if took := time.Since(p.began).Seconds(); took > 0 {
		text += fmt.Sprintf(", %.0f/s", float64(p.n)/took)
	}
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		p.unwritten = true
		return
	}
	fmt.Fprintln(p.w, text)
}

// note writes a line of its own.
func (p *progress) note(text string) {
	p.close()
	fmt.Fprintln(p.w, text)
}

// end writes how it came out.
func (p *progress) end() {
	if p.terminal || p.n > 0 && time.Since(p.began) >= lineEvery {
		p.show()
	}
	p.close()
}

func (p *progress) close() {
	if p.unwritten {
		fmt.Fprintln(p.w)
		p.unwritten = false
	}
}

// step says what is being done: over the last one on a terminal.
func (p *progress) step(text string) {
	switch {
	case p.quiet:
	case p.terminal:
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		p.unwritten = true
	default:
		fmt.Fprintln(p.w, text)
	}
}

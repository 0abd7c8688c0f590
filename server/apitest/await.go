package apitest

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long tests wait for what will come: a machine may be busy.
const patience = 90 * time.Second

// Await looks again and again until what is true.
func Await(t testing.TB, what string, is func() bool) {
	t.Helper()
	Within(t, what, patience, is)
}

// Within is Await with a bound that is part of the promise.
func Within(t testing.TB, what string, d time.Duration, is func() bool) {
	t.Helper()
	late := time.NewTimer(d)
	defer late.Stop()
	// What takes seconds is looked at less often: many tests wait at once.
	for pause := 10 * time.Millisecond; !is(); pause = min(pause*5/4, 200*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-late.C:
			t.Fatalf("not within %v: %s", d, what)
		}
	}
}

// Log collects what a server or a command writes.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
	read int // how much of it unread has returned
}

func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// unread is what was written since the last call: tests share a server, and each
// test checks what was written since the check before.
func (l *Log) unread() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text.String()[l.read:]
	l.read = l.text.Len()
	return text
}

// Has reports whether a text was written.
func (l *Log) Has(text string) bool { return strings.Contains(l.String(), text) }

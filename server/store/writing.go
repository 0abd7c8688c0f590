package store

import (
	"errors"
	"sync"
	"time"
)

// refusedFor is how long a write that the database refused makes a replica
// unready, unless a later one succeeds: a probe may well succeed where that one
// did not, on another table.
const refusedFor = 5 * time.Second

// writing is what a process has seen of its own writes. It judges what a probe
// alone cannot: whether one that has to wait means that writers fail, or that
// they are many.
type writing struct {
	mu      sync.Mutex
	had     time.Time // when a connection that writes was last had
	missed  time.Time // when one could not be had
	refusal error     // of the last write that the database refused, if none succeeded since
	refused time.Time // when
	waits   time.Time // since when every probe has to wait for the writer; zero if the last did not
	trouble int64     // refusals and misses so far
}

func (w *writing) have() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.had = time.Now()
}

func (w *writing) miss() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.missed = time.Now()
	w.trouble++
}

// note notes why a transaction failed.
func (w *writing) note(err error) {
	if !refusesWrites(err) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refusal, w.refused = err, time.Now()
	w.trouble++
}

func (w *writing) troubles() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble
}

// failed is how long ago the database refused a write, and why.
func (w *writing) failed() (ago time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.refused), w.refusal
}

// wrote forgets a refusal: rows were changed since.
func (w *writing) wrote() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refusal = nil
}

// starved reports whether somebody could not have a connection, and nobody had
// one for the time that all wait for it.
func (w *writing) starved(wait time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.missed.After(w.had) && time.Since(w.had) >= wait
}

// waited judges a probe that ended in err. One that another writer kept waiting
// is no news as long as writers have their turn within their own wait.
func (w *writing) waited(err error, wait time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !LockTimeout(err) {
		w.waits = time.Time{}
		if err == nil {
			w.missed = time.Time{}
		}
		return err
	}
	now := time.Now()
	if w.waits.IsZero() {
		w.waits = now
	}
	switch {
	case now.Sub(w.had) < wait:
		return nil
	case w.missed.After(w.had), now.Sub(w.waits) >= wait:
		return errors.Join(errWriterBusy, err)
	}
	return nil
}

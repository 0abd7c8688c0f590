package jobs

import (
	"fmt"
	"sync"

	"github.com/stint-run/stint/gen/model"
	"github.com/stint-run/stint/server/store"
)

const (
	// AnswerBytes bounds the answer of a claim: on a line of 1 Mbit/s it arrives
	// in 4.2 s, within the time to send an answer and long before the shortest
	// lease ends. The largest job is about 310 KiB.
	AnswerBytes = 512 << 10

	// jobBytes is room for the members of a claimed job that have a bound of their
	// own, and for the names of all.
	jobBytes = 1536

	// escaped is how many bytes of JSON a byte of text may become, as \u0001.
	escaped = 6

	// maxFits bounds what a process remembers: owners times kinds. Beyond it
	// everything is forgotten, which costs a claim of each that is run again.
	maxFits = 10_000

	// maxLimit is the most jobs that a claim may ask for.
	maxLimit = 100
)

// tooMuch is a claim that took more than its answer may hold. The transaction is
// rolled back, so no attempt has begun, and runs again with a smaller limit.
type tooMuch struct{ fits int64 }

func (e *tooMuch) Error() string { return fmt.Sprintf("%d of the jobs fit into an answer", e.fits) }
func (e *tooMuch) Unwrap() error { return store.ErrRerun }

// fitting is how many of the jobs fit into an answer, in their order, and the
// bytes that they take of it. The first always does.
func fitting(taken []model.Job) (n, bytes int) {
	for i, job := range taken {
		more := bytesOf(job)
		if i > 0 && bytes+more > AnswerBytes {
			return i, bytes
		}
		bytes += more
	}
	return len(taken), bytes
}

// bytesOf is at least what a claimed job takes of an answer.
func bytesOf(job model.Job) int {
	texts := len(deref(job.Key)) + len(deref(job.Actor))
	values := len(job.Payload) + len(job.Progress) + len(job.Error) + len(job.Again) + len(job.Result)
	return jobBytes + escaped*texts + values
}

// Fits remember, per owner and kind, how many jobs fitted into an answer when
// more were asked for, so that the next claim takes no more at once. It is a
// guess: what a claim takes is measured each time. The nil *Fits remember nothing.
type Fits struct {
	mu sync.Mutex
	of map[topic]int64
}

// NewFits remember nothing yet.
func NewFits() *Fits { return &Fits{of: map[topic]int64{}} }

// Limit is how many jobs a claim that asks for limit should take.
func (f *Fits) Limit(owner string, kinds []string, limit int64) int64 {
	if f == nil {
		return limit
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, kind := range kinds {
		if n, ok := f.of[topic{owner, kind}]; ok {
			limit = min(limit, n)
		}
	}
	return limit
}

// Note learns from a claim whose transaction is committed: of its jobs, as many
// as it was allowed to take, more would have fitted. It counts for all kinds that
// were asked for, as Full does: one that has no jobs left would otherwise hold the
// others back for ever.
func (f *Fits) Note(c ClaimOut) {
	if f == nil || len(c.Jobs) == 0 || c.bytes > AnswerBytes/2 || int64(len(c.Jobs)) < c.limit {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, kind := range c.kinds {
		at := topic{c.owner, kind}
		if n, ok := f.of[at]; ok && n <= c.limit {
			f.of[at] = 2 * c.limit
		}
		if f.of[at] >= maxLimit {
			delete(f.of, at)
		}
	}
}

// Full learns from a claim of kinds that took more than fits.
func (f *Fits) Full(owner string, kinds []string, fits int64) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.of)+len(kinds) > maxFits {
		clear(f.of)
	}
	for _, kind := range kinds {
		f.of[topic{owner, kind}] = fits
	}
}

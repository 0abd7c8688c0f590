package work

import (
	"time"

	"github.com/stint-run/stint/cmd/stint/internal/boottime"
	"github.com/stint-run/stint/gen/client"
)

// limit is when an attempt must be over. Without a length it may take as long as
// it does.
type limit struct {
	at     boottime.Instant
	length time.Duration // from the claim on
	own    bool          // the worker's, which the server does not know
}

// limitOf is the smallest limit of a claimed job: the server's, or the worker's
// own if an older server answered the claim. It counts from the claim's answer
// here, until a heartbeat has told how much is left.
func (w *worker) limitOf(j job) (l limit) {
	if w.Timeout > 0 {
		l = limit{length: w.Timeout, own: true}
	}
	if j.DeadlineAt != nil {
		if length := j.DeadlineAt.Sub(j.UpdatedAt); !l.own || length <= l.length {
			l = limit{length: length}
		}
	}
	l.at = j.answered.Add(l.length)
	return l
}

// confirm is called when a heartbeat that was sent then has been answered. The
// difference of the server's two times is left. An older server names neither.
func (l *limit) confirm(sent boottime.Instant, beat client.HeartbeatAnswer) {
	if !l.own && beat.DeadlineAt != nil && !beat.Now.IsZero() {
		l.at = sent.Add(beat.DeadlineAt.Sub(beat.Now))
	}
}

// passed tells whether the attempt should be over.
func (l *limit) passed() bool { return l.length > 0 && boottime.Until(l.at) <= 0 }

// warning is when the command is asked to end: grace before the limit, and not
// before half of it.
func (l *limit) warning(grace time.Duration) boottime.Instant {
	return l.at.Add(-min(grace, l.length/2))
}

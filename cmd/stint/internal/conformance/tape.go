package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// call is a request, and what became of it.
type call struct {
	at     time.Time
	action string // claim, heartbeat, complete, fail, snooze, release, log, readyz; "" is any other
	n      int    // which one of its action, from 1
	method string
	path   string
	header http.Header
	raw    []byte
	body   map[string]any
	job    *job
	left   time.Duration // of the lease when the request came
	faults []string      // why the API does not take the request

	status     int // 0: no answer
	code       string
	answered   time.Time
	retryAfter time.Duration
	gone       bool // the worker closed the connection first
}

// text is a member of the body.
func (c *call) text(name string) string {
	s, _ := c.body[name].(string)
	return s
}

func (c *call) ok() bool { return c.status >= 200 && c.status < 300 }

// finishes are the actions that end a lease.
var finishes = []string{"complete", "fail", "snooze", "release"}

func (c *call) isFinish() bool { return slices.Contains(finishes, c.action) }

// work is one process, or one handler, that works on a job.
type work struct {
	Hello
	job   *job
	begun time.Time
	ended time.Time // zero: not yet
	done  bool      // by itself
}

// tape is what was seen of one worker. Scripts read it under the trial's lock,
// verdicts when all is over.
type tape struct {
	slow   float64 // times of the script are so many times as long as usual
	lease  time.Duration
	begun  time.Time
	calls  []*call
	works  []*work
	jobs   []*job
	termed time.Time // SIGTERM was sent
	exited time.Time // the worker ended
	exit   string    // and how
	closed time.Time // the recording ended
}

// times is a time of the script.
func (t *tape) times(d time.Duration) time.Duration { return time.Duration(t.slow * float64(d)) }

// of are the calls of the actions.
func (t *tape) of(actions ...string) (all []*call) {
	for _, c := range t.calls {
		if slices.Contains(actions, c.action) {
			all = append(all, c)
		}
	}
	return all
}

// finishesOf are the finishes of a job.
func (t *tape) finishesOf(j *job) (all []*call) {
	for _, c := range t.calls {
		if c.job == j && c.isFinish() {
			all = append(all, c)
		}
	}
	return all
}

// first is the first call of an action that has been answered, or nil.
func (t *tape) first(action string) *call {
	for _, c := range t.of(action) {
		if !c.answered.IsZero() {
			return c
		}
	}
	return nil
}

// worksOf are the works on a job; processes that these have started are apart.
func (t *tape) worksOf(j *job) (all []*work) {
	for _, w := range t.works {
		if w.job == j && !w.Child {
			all = append(all, w)
		}
	}
	return all
}

// working tells whether any work goes on.
func (t *tape) working() bool {
	return slices.ContainsFunc(t.works, func(w *work) bool { return w.ended.IsZero() })
}

// done tells whether the worker has finished every job.
func (t *tape) done() bool {
	return !slices.ContainsFunc(t.jobs, func(j *job) bool { return !j.over() })
}

// lines are the tape as text, times in seconds since the worker was started.
func (t *tape) lines() (all []string) {
	type entry struct {
		at   time.Time
		text string
	}
	var entries []entry
	add := func(at time.Time, format string, args ...any) {
		if !at.IsZero() {
			entries = append(entries, entry{at, fmt.Sprintf(format, args...)})
		}
	}
	for _, c := range t.calls {
		add(c.at, "%s %s -> %s", c.method, c.path, c.outcome())
	}
	for _, w := range t.works {
		add(w.begun, "work %.6s begins, pid %d", w.Work, w.PID)
		how := "was ended"
		if w.done {
			how = "is done"
		}
		add(w.ended, "work %.6s %s, pid %d", w.Work, how, w.PID)
	}
	add(t.termed, "SIGTERM to the worker")
	add(t.exited, "the worker has ended: %s", t.exit)
	slices.SortStableFunc(entries, func(a, b entry) int { return a.at.Compare(b.at) })
	for _, e := range entries {
		all = append(all, fmt.Sprintf("%7.3f  %s", e.at.Sub(t.begun).Seconds(), e.text))
	}
	return all
}

func (c *call) outcome() string {
	after := ""
	if d := c.answered.Sub(c.at); d > 100*time.Millisecond {
		after = fmt.Sprintf(" after %.1f s", d.Seconds())
	}
	switch {
	case c.gone:
		return "the worker closed the connection" + after
	case c.status == 0:
		return "no answer"
	case c.code != "":
		return fmt.Sprintf("%d %s%s %v", c.status, c.code, after, c.faults)
	}
	return fmt.Sprintf("%d%s", c.status, after)
}

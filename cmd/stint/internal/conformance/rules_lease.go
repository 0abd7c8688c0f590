package conformance

import "time"

const (
	// slack is what times may be off by on a busy machine.
	slack = 500 * time.Millisecond
	// atOnce is how long a worker may take to end work that must not go on.
	atOnce = 5 * time.Second
)

// stubborn is work that only SIGKILL ends, with a process that it has started.
var stubborn = Instructions{Seconds: 40, IgnoreTerm: true, Child: true}

func heartbeatsInTimeRule() Rule {
	return Rule{
		Name: "heartbeats-in-time", Why: "a lease is renewed before it ends, as long as the work goes on; how long it is, the answer says",
		script: script{jobs: []Instructions{{Seconds: 9, Stdout: Text{Text: "{}\n"}}}},
		assess: renewedInTime,
	}
}

func heartbeatTroubleRule() Rule {
	return Rule{
		Name: "heartbeat-trouble", Why: "a heartbeat without an answer is sent again in time; work is not ended while the lease is held",
		script: script{
			jobs: []Instructions{{Seconds: 8, Stdout: Text{Text: "{}\n"}}}, lease: 6 * time.Second,
			plan: func(_ *tape, c *call) plan {
				switch {
				case c.action != "heartbeat":
				case c.n == 1:
					return plan{reset: true}
				case c.n == 2:
					return plan{code: "unavailable", retryAfter: 1}
				}
				return plan{}
			},
		},
		assess: renewedInTime,
	}
}

func leaseLostStopsRule() Rule {
	return Rule{
		Name: "lease-lost-stops", Why: "after a heartbeat's 409 lease_lost the work is ended with all that it started, and nothing is reported",
		script: script{
			jobs: []Instructions{stubborn}, linger: 2 * time.Second,
			plan: func(_ *tape, c *call) plan {
				if c.action == "heartbeat" && c.n == 2 {
					c.job.taken = true
				}
				return plan{}
			},
			over: func(t *tape) bool { return t.jobs[0].taken && !t.working() },
		},
		assess: stoppedWhenLost,
	}
}

func noWorkAfterLeaseEndRule() Rule {
	return Rule{
		Name: "no-work-after-lease-end", Why: "when the server no longer answers, work is over 5 s after the lease's end: from then on another worker may have the job",
		script: script{
			jobs: []Instructions{stubborn},
			plan: func(_ *tape, c *call) plan {
				return plan{hang: c.action != "claim" && (c.action != "heartbeat" || c.n > 1)}
			},
			over: func(t *tape) bool { return len(t.works) > 0 && !t.working() },
			most: 17 * time.Second,
		},
		assess: overWithItsLease,
	}
}

func timeoutRule() Rule {
	return Rule{
		Name: "timeout", Why: "work is ended and reported at its time limit, deadline_at: the lease does not last longer",
		script: script{
			// A heartbeat each third of the lease falls on the limit.
			jobs: []Instructions{stubborn}, lease: 6 * time.Second, limit: 8 * time.Second,
			over: func(t *tape) bool {
				return len(t.works) > 0 && !t.working() && (t.done() || time.Now().After(t.jobs[0].deadline.Add(spare)))
			},
			most: 19 * time.Second, linger: time.Second,
		},
		unsure: true,
		assess: func(t *tape) finding {
			f := overWithItsLease(t)
			if f.state == OK && !t.jobs[0].over() {
				return unchecked("%s, but not reported: its job waits until the server takes it back", f.seen)
			}
			return f
		},
	}
}

func timeoutAfterWaitRule() Rule {
	const waits, limit = 5 * time.Second, 6 * time.Second
	return Rule{
		Name: "timeout-after-wait", Why: "the time limit counts from the claim's answer: how long the claim waited takes nothing from it",
		script: script{
			jobs: []Instructions{stubborn}, limit: limit,
			ready: func(t *tape) bool { return time.Since(t.of("claim")[0].at) > t.times(waits) },
			over:  func(t *tape) bool { return len(t.works) > 0 && !t.working() },
			most:  22 * time.Second,
		},
		assess: func(t *tape) finding {
			f := overWithItsLease(t)
			if f.state != OK {
				return f
			}
			if took := t.works[0].ended.Sub(t.jobs[0].began); took < t.times(limit)/2 {
				return broken("the work was ended %.1f s after the claim's answer, before half of its time limit", took.Seconds())
			}
			return f
		},
	}
}

// renewedInTime is kept if the lease was never over while work went on.
func renewedInTime(t *tape) finding {
	if f := t.workedOnce(0); f.state != OK {
		return f
	}
	beats := 0
	for _, c := range t.calls {
		if c.action == "claim" || c.job == nil {
			continue
		}
		if c.left < 0 {
			return broken("a %s came %.1f s after the end of the lease", c.action, -c.left.Seconds())
		}
		if c.action == "heartbeat" && c.ok() {
			beats++
		}
	}
	if beats == 0 {
		return broken("no heartbeat came")
	}
	if f := workedToTheEnd(t); f.state != OK {
		return f
	}
	return kept("%s", plural(beats, "heartbeat", "heartbeats"))
}

// stoppedWhenLost is kept if the loss of the lease ended the work and all talk of it.
func stoppedWhenLost(t *tape) finding {
	var lost *call
	for _, c := range t.calls {
		switch {
		case lost == nil && c.action == "heartbeat" && c.code == "lease_lost":
			lost = c
		case lost != nil && c.at.After(lost.answered.Add(slack)) && (c.action == "heartbeat" || c.isFinish()):
			return broken("a %s came %.1f s after the lease was lost", c.action, c.at.Sub(lost.answered).Seconds())
		}
	}
	if lost == nil {
		return broken("no heartbeat met the loss")
	}
	return t.endedBy(lost.answered.Add(atOnce), lost.answered, "the lease was lost")
}

// overWithItsLease is kept if no work outlived the lease.
func overWithItsLease(t *tape) finding {
	if len(t.works) == 0 {
		return broken("no work began")
	}
	end := t.jobs[0].expires
	return t.endedBy(end.Add(spare), end, "the lease's end")
}

// endedBy is kept if all work was over at a time; it tells how long that is after
// an event.
func (t *tape) endedBy(most, since time.Time, event string) finding {
	last := time.Time{}
	for _, w := range t.works {
		what := "the work"
		if w.Child {
			what = "a process that the work had started"
		}
		switch {
		case w.ended.IsZero() && t.closed.After(most):
			return broken("%s went on %.1f s after %s", what, t.closed.Sub(since).Seconds(), event)
		case w.ended.IsZero():
			return broken("%s was not ended", what)
		case w.ended.After(most):
			return broken("%s was ended only %.1f s after %s", what, w.ended.Sub(since).Seconds(), event)
		case w.ended.After(last):
			last = w.ended
		}
	}
	if last.Before(since) {
		return kept("the work was ended %.1f s before %s", since.Sub(last).Seconds(), event)
	}
	return kept("the work was ended %.1f s after %s", last.Sub(since).Seconds(), event)
}

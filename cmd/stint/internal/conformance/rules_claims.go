package conformance

import (
	"bytes"
	"time"
)

func claimRepeatedRule() Rule {
	return Rule{
		Name: "claim-repeated", Why: "a claim whose answer was lost is repeated with its Idempotency-Key and body, and brings the same job",
		script: script{
			jobs: []Instructions{quick()},
			plan: func(_ *tape, c *call) plan { return plan{lost: c.action == "claim" && c.n == 1} },
			over: func(t *tape) bool { return t.done() || len(t.of("claim")) > 1 && !t.keyed() },
		},
		assess: claimRepeated,
	}
}

func lateClaimRule() Rule {
	return Rule{
		Name: "late-claim", Why: "when a claim's answer comes after the lease's end, no work begins before a heartbeat was answered",
		script: script{
			jobs: []Instructions{quick(), quick()}, linger: time.Second, most: 25 * time.Second,
			plan: func(t *tape, c *call) plan {
				switch {
				case c.action == "claim" && c.n == 1:
					return plan{late: t.lease + time.Second}
				case c.job == t.jobs[0]:
					c.job.taken = true // somebody else has it meanwhile
				}
				return plan{}
			},
			over: func(t *tape) bool { return t.jobs[1].over() },
		},
		assess: func(t *tape) finding {
			if len(t.worksOf(t.jobs[0])) > 0 {
				return broken("work began on a job whose lease had ended")
			}
			if !t.jobs[1].over() {
				return broken("the next job was not finished: %s", t.ending(t.jobs[1]))
			}
			return kept("left alone, and on to the next job")
		},
	}
}

func duplicateAnswerRule() Rule {
	return Rule{
		Name: "duplicate-answer", Why: "a lease that a claim's answer brings a second time is not worked a second time",
		script: script{
			jobs: []Instructions{quick(), quick()},
			plan: func(_ *tape, c *call) plan { return plan{again: c.action == "claim" && c.n == 2} },
		},
		assess: func(t *tape) finding {
			if n := len(t.worksOf(t.jobs[0])); n != 1 {
				return broken("the job was worked %d times", n)
			}
			return workedToTheEnd(t)
		},
	}
}

func emptyClaimRule() Rule {
	return Rule{
		Name: "empty-claim", Why: "after an empty answer the next claim comes no sooner than poll_after_ms after the last",
		script: script{
			jobs: []Instructions{quick()},
			plan: func(_ *tape, c *call) plan { return plan{empty: c.action == "claim" && c.n <= 3} },
		},
		assess: func(t *tape) finding {
			all := t.of("claim")
			for i := 1; i < len(all) && i <= 3; i++ {
				if gap := all[i].at.Sub(all[i-1].at); gap < pollAfter-slack {
					return broken("a claim came %.1f s after one with the answer poll_after_ms: %d", gap.Seconds(), pollAfter.Milliseconds())
				}
			}
			return workedToTheEnd(t)
		},
	}
}

func claimRefusedRule() Rule {
	return Rule{
		Name: "claim-refused", Why: "a claim that is refused for good (401) is not repeated in a hot loop",
		script: script{
			jobs: []Instructions{quick()}, most: 5 * time.Second,
			plan: func(_ *tape, c *call) plan {
				if c.action == "claim" {
					return plan{code: "unauthorized"}
				}
				return plan{}
			},
		},
		assess: func(t *tape) finding {
			n := len(t.of("claim"))
			if n > 10 {
				return broken("%d claims within %.0f s", n, t.closed.Sub(t.begun).Seconds())
			}
			return kept("%s", plural(n, "claim", "claims"))
		},
	}
}

// keyed tells whether the first claim has an Idempotency-Key.
func (t *tape) keyed() bool { return t.of("claim")[0].header.Get("Idempotency-Key") != "" }

func claimRepeated(t *tape) finding {
	all := t.of("claim")
	if len(all) < 2 {
		return broken("no other claim came")
	}
	if !t.keyed() {
		return unchecked("claims carry no Idempotency-Key: one whose answer is lost costs an attempt")
	}
	first, next := all[0], all[1]
	switch {
	case first.header.Get("Idempotency-Key") != next.header.Get("Idempotency-Key"):
		return broken("the next claim has another Idempotency-Key: the job waits for the end of its lease")
	case !bytes.Equal(first.raw, next.raw):
		return broken("the key came again with another body")
	}
	return workedToTheEnd(t)
}

package conformance

import (
	"strings"
	"time"
)

// usual is one job that takes longer than the first heartbeat, and one that fails.
func usual() script {
	return script{jobs: []Instructions{
		{Seconds: 2, Stdout: Text{Text: `{"ok":true}` + "\n"}},
		{Stderr: Text{Text: "no\n"}, Exit: 3},
	}}
}

func authRule() Rule {
	return Rule{
		Name: "auth", Why: "each request carries the bearer token of STINT_TOKEN",
		script: usual(), assess: noCode("unauthorized"),
	}
}

func contentTypeRule() Rule {
	return Rule{
		Name: "content-type", Why: "a body is sent as application/json",
		script: usual(), assess: noCode("unsupported_media_type"),
	}
}

func validRequestsRule() Rule {
	return Rule{
		Name: "valid-requests", Why: "each request is one that the API document allows: no unknown members, all within bounds, the job's own lease token",
		script: usual(), assess: allTaken,
	}
}

func toleratesNewMembersRule() Rule {
	return Rule{
		Name: "tolerates-new-members", Why: "members, directives and problem codes that later versions add change nothing",
		script: script{
			jobs: []Instructions{{Seconds: 6, Stdout: Text{Text: "{}\n"}}},
			plan: func(_ *tape, c *call) plan {
				if c.action == "claim" && c.n == 1 {
					return plan{code: "added_later", status: 503, retryAfter: 1, newMembers: true}
				}
				return plan{newMembers: true, directive: "added_later"}
			},
		},
		assess: workedToTheEnd,
	}
}

func retryAfterRule() Rule {
	return Rule{
		Name: "retry-after", Why: "what was answered with Retry-After is not repeated before that",
		script: script{
			jobs: []Instructions{{Stdout: Text{Text: "{}\n"}}},
			plan: func(_ *tape, c *call) plan {
				switch {
				case c.n > 1:
				case c.action == "claim":
					return plan{code: "unavailable", retryAfter: 2}
				case c.isFinish():
					return plan{code: "too_many_requests", status: 429, retryAfter: 2}
				}
				return plan{}
			},
		},
		assess: afterRetryAfter,
	}
}

func serverAwayRule() Rule {
	return Rule{
		Name: "server-away", Why: "a server that is away for a while is asked again, and not in a hot loop",
		script: script{
			jobs: []Instructions{{Stdout: Text{Text: "{}\n"}}},
			plan: func(t *tape, c *call) plan {
				first := t.of("claim")
				return plan{reset: c.action == "claim" && c.at.Sub(first[0].at) < 3*time.Second}
			},
			most: 25 * time.Second,
		},
		assess: func(t *tape) finding {
			if n := len(t.of("claim")); n > 20 {
				return broken("%d claims within about 3 s", n)
			}
			return workedToTheEnd(t)
		},
	}
}

// noCode is kept if no request was refused with the code.
func noCode(code string) func(t *tape) finding {
	return func(t *tape) finding {
		for _, c := range t.calls {
			if c.code == code {
				return broken("%s %s: %s", c.method, c.path, strings.Join(c.faults, "; "))
			}
		}
		if len(t.of("heartbeat")) == 0 || len(t.of(finishes...)) == 0 {
			return broken("of claim, heartbeat and finish not all came")
		}
		return kept("%d requests", len(t.calls))
	}
}

// allTaken is kept if the server took every request; nothing was scripted.
func allTaken(t *tape) finding {
	for _, c := range t.calls {
		if len(c.faults) > 0 {
			return broken("%s %s: %s", c.method, c.path, strings.Join(c.faults, "; "))
		}
		if c.status >= 400 {
			return broken("%s %s: %s", c.method, c.path, c.code)
		}
	}
	return kept("%d requests", len(t.calls))
}

// workedToTheEnd is kept if each job was worked once, not cut short, and completed.
func workedToTheEnd(t *tape) finding {
	for i, j := range t.jobs {
		if f := t.workedOnce(i); f.state != OK {
			return f
		}
		if j.ended[j.token] != "complete" {
			return broken("job %d was not completed: %s", i+1, t.ending(j))
		}
	}
	return kept("worked and completed")
}

// workedOnce is kept if a job was worked once, and not cut short.
func (t *tape) workedOnce(i int) finding {
	works := t.worksOf(t.jobs[i])
	if len(works) != 1 {
		return broken("job %d was worked %d times", i+1, len(works))
	}
	if w := works[0]; !w.done && !w.ended.IsZero() {
		return broken("the work on job %d was ended after %.1f of %.1f s", i+1, w.ended.Sub(w.begun).Seconds(), t.jobs[i].seconds)
	}
	return kept("worked once")
}

// ending tells how the worker tried to finish a job.
func (t *tape) ending(j *job) string {
	all := t.finishesOf(j)
	if len(all) == 0 {
		return "no finish came"
	}
	last := all[len(all)-1]
	return "the last of " + plural(len(all), "finish", "finishes") + " was " + last.action + ": " + last.outcome()
}

// afterRetryAfter is kept if whatever was refused for a time came again, not early.
func afterRetryAfter(t *tape) finding {
	for _, c := range t.calls {
		if c.retryAfter == 0 {
			continue
		}
		next := t.after(c)
		switch {
		case next == nil:
			return broken("%s was not repeated after Retry-After: %d", c.action, int(c.retryAfter.Seconds()))
		case next.at.Sub(c.answered) < c.retryAfter-slack:
			return broken("%s came again %.1f s after an answer with Retry-After: %d", c.action, next.at.Sub(c.answered).Seconds(), int(c.retryAfter.Seconds()))
		}
	}
	return workedToTheEnd(t)
}

// after is the next call of the same action, for the same job.
func (t *tape) after(c *call) *call {
	for _, next := range t.of(c.action) {
		if next.at.After(c.at) && (c.job == nil || next.job == c.job) {
			return next
		}
	}
	return nil
}

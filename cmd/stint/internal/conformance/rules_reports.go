package conformance

import "time"

func quick() Instructions { return Instructions{Stdout: Text{Text: "{}\n"}} }

func reportRepeatedRule() Rule {
	return Rule{
		Name: "report-repeated", Why: "a finish whose answer was lost is sent again, the same action, and is done when it is answered with 200",
		script: script{
			jobs: []Instructions{quick()}, linger: 2 * time.Second,
			plan: func(t *tape, c *call) plan { return plan{lost: c.isFinish() && len(t.finishesOf(c.job)) == 1} },
			over: func(t *tape) bool { return t.answered(0) != nil },
		},
		assess: repeated,
	}
}

func reportNotRepeatedRule() Rule {
	return Rule{
		Name: "report-not-repeated", Why: "after a finish was answered with 200 nothing comes under its lease token any more",
		script: script{jobs: []Instructions{{Seconds: 2, Stdout: Text{Text: "{}\n"}}}, linger: 3 * time.Second},
		assess: func(t *tape) finding {
			done := t.answered(0)
			if done == nil {
				return broken("%s", t.ending(t.jobs[0]))
			}
			return t.silent(done)
		},
	}
}

func noReportAfter409Rule() Rule {
	return Rule{
		Name: "no-report-after-409", Why: "a finish that is answered with 409 lease_lost is not repeated, and the worker goes on with other jobs",
		script: script{
			jobs: []Instructions{quick(), quick()}, linger: 2 * time.Second,
			plan: func(t *tape, c *call) plan {
				if c.isFinish() && c.job == t.jobs[0] {
					c.job.taken = true
				}
				return plan{}
			},
			over: func(t *tape) bool { return t.jobs[1].over() },
		},
		assess: func(t *tape) finding {
			all := t.finishesOf(t.jobs[0])
			if len(all) == 0 {
				return broken("no finish came")
			}
			if f := t.silent(all[0]); f.state != OK {
				return f
			}
			if !t.jobs[1].over() {
				return broken("the next job was not finished")
			}
			return kept("dropped, and on to the next job")
		},
	}
}

func logRefusedRule() Rule {
	return Rule{
		Name: "log-refused", Why: "a log append that is refused, as by an older server, ends nothing",
		script: script{
			jobs: []Instructions{{Seconds: 4, Stderr: Text{Text: "a line\n"}, Stdout: Text{Text: "{}\n"}}},
			plan: func(_ *tape, c *call) plan {
				if c.action == "log" {
					return plan{code: "not_found"}
				}
				return plan{}
			},
		},
		assess: func(t *tape) finding {
			f := workedToTheEnd(t)
			if f.state == OK && len(t.of("log")) == 0 {
				return unchecked("the worker appends no log")
			}
			return f
		},
	}
}

// answered is the finish of a job that got its 2xx, or nil.
func (t *tape) answered(i int) *call {
	for _, c := range t.finishesOf(t.jobs[i]) {
		if c.ok() {
			return c
		}
	}
	return nil
}

// silent is kept if nothing came under the token of a call after its answer.
func (t *tape) silent(done *call) finding {
	for _, c := range t.calls {
		if c.job == done.job && c.action != "claim" && c.at.After(done.answered.Add(slack)) {
			return broken("a %s came %.1f s after the answer %s", c.action, c.at.Sub(done.answered).Seconds(), done.outcome())
		}
	}
	return kept("nothing came after the answer")
}

// repeated is kept if the finish whose answer was lost came again, until 200.
func repeated(t *tape) finding {
	all := t.finishesOf(t.jobs[0])
	if len(all) < 2 {
		return broken("%s", t.ending(t.jobs[0]))
	}
	for _, c := range all[1:] {
		if c.action != all[0].action || c.text("lease_token") != all[0].text("lease_token") {
			return broken("%s was followed by %s, or by another lease token", all[0].action, c.action)
		}
	}
	done := t.answered(0)
	if done == nil {
		return broken("%s", t.ending(t.jobs[0]))
	}
	if f := t.silent(done); f.state != OK {
		return f
	}
	if n := len(t.worksOf(t.jobs[0])); n != 1 {
		return broken("the job was worked %d times", n)
	}
	return kept("repeated after %.1f s", all[1].at.Sub(all[0].at).Seconds())
}

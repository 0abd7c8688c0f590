package conformance

import "time"

// drained is how long the scripted replica takes no claims.
const drained = 6 * time.Second

func cancelObeyedRule() Rule {
	return Rule{
		Name: "cancel-obeyed", Why: "the directive cancel ends the work, with all that it started, and the job is finished by a report",
		script: script{
			jobs: []Instructions{{Seconds: 40, Child: true}},
			plan: func(_ *tape, c *call) plan {
				if c.action == "heartbeat" {
					return plan{directive: "cancel"}
				}
				return plan{}
			},
			over: func(t *tape) bool { return t.done() && !t.working() },
		},
		assess: func(t *tape) finding {
			asked := t.first("heartbeat")
			if asked == nil {
				return broken("no heartbeat came")
			}
			f := t.endedBy(asked.answered.Add(2*atOnce), asked.answered, "the directive")
			if f.state == OK && !t.jobs[0].over() {
				return broken("%s, but %s", f.seen, t.ending(t.jobs[0]))
			}
			return f
		},
	}
}

func drainRule() Rule {
	return Rule{
		Name: "drain", Why: "the directive drain ends no work; claims wait until a server takes them again",
		script: script{
			jobs: []Instructions{{Seconds: 4, Stdout: Text{Text: "{}\n"}}, {Stdout: Text{Text: "{}\n"}}},
			plan: drain,
			most: 25 * time.Second,
		},
		assess: func(t *tape) finding {
			if t.first("heartbeat") == nil {
				return broken("no heartbeat came")
			}
			refused := 0
			for _, c := range t.of("claim") {
				if c.code == "draining" {
					refused++
				}
			}
			// One a second and some more: whoever waits for Retry-After needs three.
			if most := t.times(drained); refused > int(most.Seconds())+2 {
				return broken("%d claims were refused within %.0f s", refused, most.Seconds())
			}
			return workedToTheEnd(t)
		},
	}
}

// drain answers as a replica that stops, from the first heartbeat on.
func drain(t *tape, c *call) plan {
	first := t.of("heartbeat")
	if len(first) == 0 || c.at.Sub(first[0].at) > t.times(drained) {
		return plan{}
	}
	switch c.action {
	case "heartbeat":
		return plan{directive: "drain"}
	case "claim", "readyz":
		return plan{code: "draining", retryAfter: 2}
	}
	return plan{}
}

package conformance

import (
	"strconv"
	"time"
)

// stopTime is what a worker has to end after SIGTERM, when the work at hand takes
// a few seconds. An example that waits in a claim ends with its answer.
const stopTime = 15 * time.Second

func stopRule() Rule {
	return Rule{
		Name: "stop", Why: "SIGTERM: no more claims; the job at hand is finished or given back, and the worker ends",
		script: script{
			jobs: []Instructions{{Seconds: 3, Stdout: Text{Text: "{}\n"}}, quick()}, most: 20 * time.Second,
			term: func(t *tape) bool { return len(t.works) > 0 && time.Since(t.works[0].begun) > 700*time.Millisecond },
			over: func(t *tape) bool { return false },
		},
		assess: func(t *tape) finding {
			if t.termed.IsZero() {
				return broken("no work began")
			}
			return t.stopped()
		},
	}
}

func stopWaitingRule() Rule {
	return Rule{
		Name: "stop-waiting", Why: "SIGTERM while a claim waits: the worker ends, and a job that the claim brings all the same is finished or given back",
		script: script{
			jobs: []Instructions{quick()}, most: 20 * time.Second,
			term:  func(t *tape) bool { return len(t.of("claim")) > 0 && time.Since(t.of("claim")[0].at) > time.Second },
			ready: func(t *tape) bool { return !t.termed.IsZero() && time.Since(t.termed) > 300*time.Millisecond },
			over:  func(t *tape) bool { return false },
		},
		assess: func(t *tape) finding { return t.stopped() },
	}
}

// stopped is kept if the worker ended in time and left nothing behind.
func (t *tape) stopped() finding {
	if t.exited.IsZero() {
		return broken("still there %.0f s after SIGTERM", t.closed.Sub(t.termed).Seconds())
	}
	took := t.exited.Sub(t.termed)
	if took > stopTime {
		return broken("ended only %.0f s after SIGTERM", took.Seconds())
	}
	asked := map[string]bool{}
	for _, c := range t.of("claim") {
		key := c.header.Get("Idempotency-Key")
		if c.at.After(t.termed.Add(slack)) && (key == "" || !asked[key]) {
			return broken("a claim came %.1f s after SIGTERM", c.at.Sub(t.termed).Seconds())
		}
		asked[key] = true
	}
	if t.working() {
		return broken("the work went on when the worker had ended")
	}
	for _, j := range t.jobs {
		if j.token != "" && !j.over() {
			return broken("a claimed job was neither finished nor given back: %s", t.ending(j))
		}
	}
	return kept("ended after %.1f s: %s", took.Seconds(), t.exit)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

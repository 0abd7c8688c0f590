package conformance

import (
	"encoding/json"
	"reflect"
	"time"
)

const (
	twoMiB = 2 << 20
	binary = "AAH/gMMoAAD+"
	result = `{"text":"ä \"<&>\" ☃","list":[1,2,{"n":null}],"half":0.5,"yes":true}`
)

// hard are endings that are not easy to report.
var hard = []struct {
	what string
	Instructions
}{
	{"NUL and binary on standard error, exit 1", Instructions{Stderr: Text{Text: "x", Base64: binary}, Exit: 1}},
	{"2 MiB of standard error, exit 1", Instructions{Stderr: Text{Text: "é€\"\\\n01234567", Repeat: twoMiB / 16}, Exit: 1}},
	{"2 MiB of output, exit 0", Instructions{Stdout: Text{Text: "0123456789abcde\n", Repeat: twoMiB / 16}}},
	{"2 MiB of JSON, exit 0", Instructions{Stdout: Text{Text: "1234567890123456", Repeat: twoMiB / 16}}},
	{"plain text as output, exit 0", Instructions{Stdout: Text{Text: "all is \"well\"\n"}}},
	{"binary as output, exit 0", Instructions{Stdout: Text{Text: "{", Base64: binary}}},
	{"a result with U+0000, exit 0", Instructions{Stdout: Text{Text: `{"log":"a\u0000b"}` + "\n"}}},
	{"no output, exit 0", Instructions{}},
	{"no output, exit 7", Instructions{Exit: 7}},
	{"killed by a signal", Instructions{Signal: 9}},
}

func endsEveryJobRule() Rule {
	hardJobs := script{most: 25 * time.Second}
	for _, one := range hard {
		hardJobs.jobs = append(hardJobs.jobs, one.Instructions)
	}
	return Rule{
		Name: "ends-every-job", Why: "whatever the work prints and however it ends, the job is finished: exit 0 by complete, any other end by fail",
		script: hardJobs, assess: endsEveryJob,
	}
}

func resultKeptRule() Rule {
	return Rule{
		Name: "result-kept", Why: "JSON that the work prints is the job's result",
		script: script{jobs: []Instructions{{Stdout: Text{Text: result + "\n"}}}},
		assess: resultKept,
	}
}

func resultRefusedRule() Rule {
	return Rule{
		Name: "result-refused", Why: "when the result is refused (422, 413) the job is completed without it; the work is not done again",
		script: script{
			jobs: []Instructions{{Stdout: Text{Text: result + "\n"}}, {Stdout: Text{Text: result + "\n"}}},
			plan: func(t *tape, c *call) plan {
				switch {
				case !c.isFinish() || c.body["result"] == nil:
					return plan{}
				case c.job == t.jobs[0]:
					return plan{code: "validation_failed"}
				}
				return plan{code: "body_too_large"}
			},
		},
		assess: workedToTheEnd,
	}
}

func endsEveryJob(t *tape) finding {
	for i, j := range t.jobs {
		want, what := "fail", hard[i].what
		if hard[i].Exit == 0 && hard[i].Signal == 0 {
			want = "complete"
		}
		for _, c := range t.finishesOf(j) {
			if c.action != want {
				return broken("%s: %s instead of %s", what, c.action, want)
			}
		}
		if !j.over() {
			return broken("%s: %s", what, t.ending(j))
		}
		if n := len(t.worksOf(j)); n != 1 {
			return broken("%s: worked %d times", what, n)
		}
	}
	return kept("%d endings", len(t.jobs))
}

func resultKept(t *tape) finding {
	done := t.answered(0)
	if done == nil {
		return broken("%s", t.ending(t.jobs[0]))
	}
	var want any
	if err := json.Unmarshal([]byte(result), &want); err != nil {
		panic(err)
	}
	if got := done.body["result"]; !reflect.DeepEqual(got, want) {
		return broken("%s came with the result %.80v", done.action, got)
	}
	return kept("the result came as it was printed")
}

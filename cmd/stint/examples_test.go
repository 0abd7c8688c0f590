package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/apitest"
)

// examples are the example workers, but for kind and command.
func examples(t *testing.T) map[string][]string {
	t.Helper()
	dir, err := filepath.Abs("../../docs/examples")
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]string{
		"bash":   {"bash", filepath.Join(dir, "worker.sh")},
		"python": {"python3", filepath.Join(dir, "worker.py")},
	}
}

// unchecked are the rules that do not apply to a worker; all others must be kept.
// stint work has none.
var unchecked = map[string][]string{
	"bash":   {"log-refused"},
	"python": {"log-refused"},
}

// The workers wait most of the time, so they are tried side by side. On a machine
// that other tests keep busy a rule may need another try, with longer leases.
func TestWorkersKeepTheRules(t *testing.T) {
	t.Parallel()
	workers := map[string][]string{"work": {"stint", "work", "--kinds", "{kind}", "--", "{command}"}}
	for name, worker := range examples(t) {
		workers[name] = append(worker, "{kind}", "{command}")
	}
	for name, worker := range workers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"conformance", "--tries", "3", "-v", "-o", "json", "--"}, worker...)
			out, err := exec.Command("stint", args...).Output()
			var report struct {
				Rules []struct {
					Rule, State, Seen string
					Tape, Output      []string
				}
			}
			if jsonErr := json.Unmarshal(out, &report); jsonErr != nil || len(report.Rules) < 20 {
				t.Fatalf("%v, %v: %s", err, jsonErr, out)
			}
			for _, v := range report.Rules {
				if v.State != "ok" && (v.State == "broken" || !slices.Contains(unchecked[name], v.Rule)) {
					t.Errorf("%s is %s: %s\n%s", v.Rule, v.State, v.Seen, strings.Join(append(v.Tape, v.Output...), "\n"))
				}
			}
			if err != nil {
				t.Errorf("%v", err)
			}
		})
	}
}

// What the scripted server takes, a real one takes too.
func TestExampleWorkersEndEveryJob(t *testing.T) {
	t.Parallel()
	const run = `eval "$(jq -r .script)"`
	cases := []struct{ script, state, result, message string }{
		{`echo '{"length": 12345678901234567890}'`, "succeeded", `{"length":12345678901234567`, ""},
		{`echo all is well`, "succeeded", `"all is well`, ""},
		{`yes | head -c 2097152`, "succeeded", `"`, ""},
		{`printf '{"log":"a\\u0000b"}'`, "succeeded", `null`, ""},
		{`printf 'x\0y' >&2; exit 1`, "failed", "null", `x`},
		{`yes é | head -c 2097152 >&2; exit 1`, "failed", "null", `é\né`},
	}
	each(t, func(t *testing.T, s *replica) {
		for name, worker := range examples(t) {
			t.Run(name, func(t *testing.T) {
				ids := make([]string, len(cases))
				for i, c := range cases {
					script, _ := json.Marshal(map[string]string{"script": c.script})
					ids[i] = s.enqueue(`"max_attempts":1`, `"payload":`+string(script))
				}
				p := spawn(t, s.env(), worker[0], append(worker[1:], "audit", "sh", "-c", run)...)
				for i, c := range cases {
					apitest.Await(t, c.script, func() bool { return s.job(ids[i]).State == c.state })
					j := s.job(ids[i])
					if !strings.HasPrefix(string(j.Result), c.result) || !strings.Contains(string(j.Error), c.message) {
						t.Errorf("%s: result %.80s, error %.80s", c.script, j.Result, j.Error)
					}
				}
				p.term(t)
				s.enqueue() // ends a claim that waits
				if code := p.exit(t); code != 0 {
					t.Errorf("exit %d", code)
				}
			})
		}
	})
}

package conformance_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stint-run/stint/cmd/stint/internal/conformance"
	"github.com/stint-run/stint/server"
)

// TestMain is, by the name that it is called by, the sample worker or the program
// behind {command} as well.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "sample":
		runSample(os.Args[1:])
		os.Exit(0)
	case "command":
		conformance.Do(os.Stdin)
	}
	os.Exit(m.Run())
}

// flaws are more flaws of the sample for rules that it can break in several ways.
var flaws = []string{
	"server-away/hot", "cancel-obeyed/children", "ends-every-job/cut", "stop/claims",
}

// config is the sample with a flaw, under the rules.
func config(t *testing.T, flaw string, rules ...string) conformance.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"sample", "command"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	doc, err := server.New(server.Config{Version: "v1", Log: slog.Default()}, nil, make([]byte, 32)).Document()
	if err != nil {
		t.Fatal(err)
	}
	selected, err := conformance.Select(rules)
	if err != nil {
		t.Fatal(err)
	}
	return conformance.Config{
		Worker:  []string{filepath.Join(dir, "sample"), flaw, "{kind}", "{command}"},
		Command: filepath.Join(dir, "command"), Temp: dir, Document: doc, Rules: selected, Parallel: 100,
	}
}

func show(v conformance.Verdict) string {
	return v.Rule + " is " + v.State + ": " + v.Seen + "\n" + strings.Join(append(v.Tape, v.Output...), "\n")
}

// Both with commands and with handlers, as an SDK has them.
func TestAWorkerThatKeepsTheRulesBreaksNone(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"command", "handler"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			unchecked := []string{"log-refused"} // the sample appends no log
			c := config(t, how)
			c.Tries = 3 // beside the tests of other packages the machine is busy
			err := conformance.Run(t.Context(), c, func(v conformance.Verdict) {
				want := conformance.OK
				if slices.Contains(unchecked, v.Rule) {
					want = conformance.NotChecked
				}
				if v.State != want {
					t.Errorf("%s", show(v))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// No rule is one that cannot fail.
func TestEachRuleIsSeenToBeBroken(t *testing.T) {
	t.Parallel()
	all := flaws
	for _, r := range conformance.Rules() {
		all = append(all, r.Name)
	}
	var group sync.WaitGroup // all at once: they wait
	for _, flaw := range all {
		rule, _, _ := strings.Cut(flaw, "/")
		c := config(t, flaw, rule)
		group.Go(func() {
			err := conformance.Run(t.Context(), c, func(v conformance.Verdict) {
				t.Logf("%s: %s", flaw, v.Seen)
				if v.State != conformance.Broken {
					t.Errorf("%s: %s", flaw, show(v))
				}
			})
			if err != nil {
				t.Errorf("%s: %v", flaw, err)
			}
		})
	}
	group.Wait()
}

// docs/conformance.md has the rules in a table.
func TestTheRulesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range conformance.Rules() {
		if row := "\n| `" + r.Name + "` | " + r.Why + " |\n"; strings.Count(string(page), row) != 1 {
			t.Errorf("docs/conformance.md lacks the row%s", row)
		}
	}
}

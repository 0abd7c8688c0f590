package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// What go test -json says of two packages: one is sound, in the other a subtest
// fails and another test panics.
const events = `
{"Time":"2026-03-04T05:06:07Z","Action":"start","Package":"example.org/x/good"}
{"Time":"2026-03-04T05:06:07Z","Action":"start","Package":"example.org/x/bad"}
{"Time":"2026-03-04T05:06:07Z","Action":"run","Package":"example.org/x/good","Test":"TestOK"}
{"Time":"2026-03-04T05:06:07Z","Action":"output","Package":"example.org/x/good","Test":"TestOK","Output":"=== RUN   TestOK\n"}
{"Time":"2026-03-04T05:06:07Z","Action":"output","Package":"example.org/x/good","Test":"TestOK","Output":"    x_test.go:3: told by the way\n"}
{"Time":"2026-03-04T05:06:07Z","Action":"pass","Package":"example.org/x/good","Test":"TestOK","Elapsed":0}
{"Time":"2026-03-04T05:06:07Z","Action":"run","Package":"example.org/x/bad","Test":"TestBad"}
{"Time":"2026-03-04T05:06:07Z","Action":"run","Package":"example.org/x/bad","Test":"TestBad/a_'b'$"}
{"Time":"2026-03-04T05:06:08Z","Action":"output","Package":"example.org/x/bad","Test":"TestBad/a_'b'$","Output":"    x_test.go:9: wrong\n"}
{"Time":"2026-03-04T05:06:08Z","Action":"output","Package":"example.org/x/bad","Test":"TestBad/a_'b'$","Output":"    --- FAIL: TestBad/a_'b'$ (1.00s)\n"}
{"Time":"2026-03-04T05:06:08Z","Action":"fail","Package":"example.org/x/bad","Test":"TestBad/a_'b'$","Elapsed":1}
{"Time":"2026-03-04T05:06:08Z","Action":"output","Package":"example.org/x/bad","Test":"TestBad","Output":"--- FAIL: TestBad (1.00s)\n"}
{"Time":"2026-03-04T05:06:08Z","Action":"fail","Package":"example.org/x/bad","Test":"TestBad","Elapsed":1}
{"Time":"2026-03-04T05:06:08Z","Action":"run","Package":"example.org/x/bad","Test":"TestDies"}
{"Time":"2026-03-04T05:06:08Z","Action":"output","Package":"example.org/x/bad","Test":"TestDies","Output":"panic: boom\n"}
{"Time":"2026-03-04T05:06:09Z","Action":"output","Package":"example.org/x/bad","Output":"FAIL\texample.org/x/bad\t2.0s\n"}
{"Time":"2026-03-04T05:06:09Z","Action":"fail","Package":"example.org/x/bad","Elapsed":2}
{"Time":"2026-03-04T05:06:09Z","Action":"output","Package":"example.org/x/good","Output":"PASS\n"}
{"Time":"2026-03-04T05:06:09Z","Action":"output","Package":"example.org/x/good","Output":"ok  \texample.org/x/good\t2.0s\n"}
{"Time":"2026-03-04T05:06:09Z","Action":"pass","Package":"example.org/x/good","Elapsed":2}
`

// shown is what a report of the events prints.
func shown(set func(*report)) (out, aside string) {
	var to, beside strings.Builder
	r := newReport(&to, &beside)
	r.module = "example.org/x"
	set(r)
	for line := range strings.Lines(strings.TrimPrefix(events, "\n")) {
		r.line([]byte(line))
		if strings.Contains(line, `"run"`) && strings.Contains(line, "TestDies") {
			r.progress(r.began.Add(75e9))
		}
	}
	r.close("make test pkg", 1)
	return to.String(), beside.String()
}

func TestReportIsGoTestsOwnAndThenTheLinesToRunAgain(t *testing.T) {
	t.Parallel()
	out, aside := shown(func(*report) {})
	if want := `--- FAIL: TestBad (1.00s)
    --- FAIL: TestBad/a_'b'$ (1.00s)
    x_test.go:9: wrong
panic: boom
FAIL	example.org/x/bad	2.0s
ok  	example.org/x/good	2.0s
Run again what failed:
  make test pkg=./bad args='-run ^TestBad$/^a_.b..$ -count=1'
  make test pkg=./bad args='-run ^TestDies$ -count=1'
FAIL
`; out != want {
		t.Errorf("printed\n%s\nwant\n%s", out, want)
	}
	if want := `1s: failed: bad TestBad/a_'b'$ (1.00s)
1m15s: 1 tests and 0 packages are done; running: bad TestDies 74s
`; aside != want {
		t.Errorf("told\n%s\nwant\n%s", aside, want)
	}
}

func TestReportLeavesEventsAndVerboseOutputAsTheyAre(t *testing.T) {
	t.Parallel()
	out, aside := shown(func(r *report) { r.raw = true })
	if out != strings.TrimPrefix(events, "\n") || !strings.Contains(aside, "make test pkg=./bad args=") {
		t.Errorf("-json: %s\nand %s", out, aside)
	}
	out, _ = shown(func(r *report) { r.whole = true })
	if !strings.Contains(out, "told by the way\n") || strings.Count(out, "wrong") != 1 {
		t.Errorf("-v: %s", out)
	}
}

// told is what a report prints of events of one package.
func told(lines ...string) string {
	var out strings.Builder
	r := newReport(&out, io.Discard)
	r.module = "example.org/x"
	for _, line := range lines {
		r.line([]byte(strings.Replace(line, `{`, `{"Time":"2026-03-04T05:06:07Z","Package":"example.org/x/bad",`, 1)))
	}
	return out.String()
}

// go test tells of a panic as if the test that passed last had said it.
func TestPanicOutsideOfTestsIsShown(t *testing.T) {
	t.Parallel()
	got := told(
		`{"Action":"run","Test":"TestGood"}`,
		`{"Action":"output","Test":"TestGood","Output":"    x_test.go:3: told by the way\n"}`,
		`{"Action":"output","Test":"TestGood","Output":"--- PASS: TestGood (0.00s)\n"}`,
		`{"Action":"output","Test":"TestGood","Output":"panic: late\n"}`,
		`{"Action":"pass","Test":"TestGood"}`,
		`{"Action":"output","Output":"FAIL\texample.org/x/bad\t2.0s\n"}`,
		`{"Action":"fail"}`)
	if want := "panic: late\nFAIL\texample.org/x/bad\t2.0s\n"; got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

func TestEachRunOfATestIsShownOnceIfItFailed(t *testing.T) {
	t.Parallel()
	run := func(action, verdict, said string) []string {
		return []string{
			`{"Action":"run","Test":"TestOften"}`,
			`{"Action":"output","Test":"TestOften","Output":"    ` + said + `\n"}`,
			`{"Action":"output","Test":"TestOften","Output":"--- ` + verdict + `: TestOften (0.00s)\n"}`,
			`{"Action":"` + action + `","Test":"TestOften"}`,
		}
	}
	got := told(slices.Concat(run("fail", "FAIL", "first"), run("pass", "PASS", "second"), run("fail", "FAIL", "third"), []string{`{"Action":"fail"}`})...)
	if want := "--- FAIL: TestOften (0.00s)\n    first\n--- FAIL: TestOften (0.00s)\n    third\n"; got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

func TestLineToRunAgainHasTheTagsThatWereTyped(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		test string
		want string
	}{
		{[]string{"go", "test", "-tags", "soak", "./bad"}, "TestBad", "make test pkg=./bad args='-run ^TestBad$ -count=1'"},
		{[]string{"go", "test", "./bad", "-tags", "record", "-run", "Bad"}, "TestBad", "make test pkg=./bad args='-tags record -run ^TestBad$ -count=1'"},
		{[]string{"go", "test", "./good", "./bad", "-tags=record,soak"}, "TestBad", "make test pkg=./bad args='-tags record,soak -run ^TestBad$ -count=1'"},
		{[]string{"go", "test", "./bad", "-tags=record"}, "", "make test pkg=./bad args='-tags record'"},
		{[]string{"go", "test", "./bad", "-tags"}, "", "make test pkg=./bad"},
	} {
		if got := (rerun{"example.org/x/bad", tt.test}).line("make test pkg", "example.org/x", typedTags(tt.args)); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.args, got, tt.want)
		}
	}
}

func TestFlagsOfGoTestAreFoundInEverySpelling(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]bool{"-v": true, "--v": true, "-v=true": true, "-test.v": true, "-v=false": false, "v": false, "-vet=off": false, "./v": false} {
		if got := flagged([]string{"go", "test", arg}, "v"); got != want {
			t.Errorf("%s: %v", arg, got)
		}
	}
}

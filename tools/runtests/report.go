package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// event is a line of go test -json.
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string // of a build
	Test       string
	Elapsed    float64
	Output     string
}

// report turns events into what go test prints, and keeps what failed.
type report struct {
	out, aside io.Writer // go test's own text; what is told beside it
	raw        bool      // the caller wants the events themselves
	whole      bool      // the caller wants all output, as with -v
	tags       string    // that the caller typed
	module     string

	began, now     time.Time
	packages       map[string]*tests // that run
	passed, ended  int               // tests, packages
	failed         []rerun
	failedPackages int
}

// tests are those of one package.
type tests struct {
	began  time.Time
	own    string               // the package's output, of no test
	runs   []*testRun           // in the order in which they began
	latest map[string]*testRun  // by test, which -count runs several times
	open   map[string]time.Time // when each began that has not ended; zero while it waits for others
	failed []string
}

// testRun is one run of one test, with its output unless it passed.
type testRun struct{ text string }

func newReport(out, aside io.Writer) *report {
	return &report{out: out, aside: aside, packages: map[string]*tests{}}
}

// line takes one line of go test -json; one that is no event is shown.
func (r *report) line(text []byte) {
	var e event
	if r.raw {
		_, _ = r.out.Write(text)
	}
	if json.Unmarshal(text, &e) != nil || e.Action == "" {
		if !r.raw {
			_, _ = r.out.Write(text)
		}
		return
	}
	if !e.Time.IsZero() {
		r.now = e.Time
		r.began = cmp.Or(r.began, e.Time)
	}
	if r.whole && !r.raw {
		fmt.Fprint(r.out, e.Output)
	} else if e.Action == "build-output" && !r.raw {
		fmt.Fprint(r.aside, e.Output)
	}
	if e.Package != "" {
		r.event(e)
	}
}

func (r *report) event(e event) {
	p := r.packages[e.Package]
	if p == nil {
		p = &tests{began: e.Time, latest: map[string]*testRun{}, open: map[string]time.Time{}}
		r.packages[e.Package] = p
	}
	switch e.Action {
	case "run":
		p.begin(e.Test)
		p.open[e.Test] = e.Time
	case "pause":
		p.open[e.Test] = time.Time{}
	case "cont":
		p.open[e.Test] = e.Time
	case "output":
		p.output(e)
	case "pass", "skip", "fail":
		r.end(p, e)
	}
}

// end is the end of a test, or of its package.
func (r *report) end(p *tests, e event) {
	if e.Test == "" {
		r.endPackage(p, e)
		return
	}
	delete(p.open, e.Test)
	if e.Action != "fail" {
		r.passed++
		p.forget(e.Test)
		return
	}
	inner := slices.ContainsFunc(p.failed, func(name string) bool { return strings.HasPrefix(name, e.Test+"/") })
	p.failed = append(p.failed, e.Test)
	if !inner && !r.whole && !r.raw {
		fmt.Fprintf(r.aside, "%s: failed: %s %s (%.2fs)\n", r.at(e.Time), r.short(e.Package), e.Test, e.Elapsed)
	}
}

// endPackage prints what go test prints of a package.
func (r *report) endPackage(p *tests, e event) {
	delete(r.packages, e.Package)
	r.ended++
	if e.Action == "fail" {
		r.failedPackages++
		r.failed = append(r.failed, reruns(e.Package, p)...)
	}
	if r.whole || r.raw {
		return
	}
	if e.Action != "fail" {
		fmt.Fprint(r.out, closing.FindString(p.own))
		return
	}
	for _, run := range p.runs {
		fmt.Fprint(r.out, verdictFirst(chatter.ReplaceAllString(run.text, "")))
	}
	fmt.Fprint(r.out, p.own)
}

func (p *tests) begin(test string) *testRun {
	run := &testRun{}
	p.runs, p.latest[test] = append(p.runs, run), run
	return run
}

func (p *tests) output(e event) {
	if e.Test == "" {
		p.own += e.Output
		return
	}
	run := p.latest[e.Test]
	if run == nil {
		run = p.begin(e.Test)
	}
	run.text += e.Output
}

// forget drops the output of a test that passed, up to the line that says so.
// What follows is the package's: go test tells of a panic or a time-out as if the
// test that ended last had said it.
func (p *tests) forget(test string) {
	run := p.latest[test]
	if run == nil {
		return
	}
	if at := passed.FindStringIndex(run.text); at != nil {
		p.own += run.text[at[1]:]
	}
	run.text = ""
}

var (
	closing = regexp.MustCompile(`(?m)^(ok  |\?   )\t.*\n`)
	chatter = regexp.MustCompile(`(?m)^=== (RUN|PAUSE|CONT|NAME) .*\n`)
	passed  = regexp.MustCompile(`(?m)^ *--- (PASS|SKIP): .*\n`)
	verdict = regexp.MustCompile(`(?m)^ *--- FAIL: .*\n`)
)

// verdictFirst puts the name of a failed test above what it said, where go test
// has it; with -json it comes last, and what is said seems to be another test's.
func verdictFirst(text string) string {
	all := verdict.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return text
	}
	at := all[len(all)-1]
	return text[at[0]:at[1]] + text[:at[0]] + text[at[1]:]
}

// mostNamed is how many of the running tests of a package are named.
const mostNamed = 2

// progress tells what is running.
func (r *report) progress(now time.Time) {
	if r.began.IsZero() {
		fmt.Fprintln(r.aside, "building")
		return
	}
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(r.packages), func(a, b string) int { return r.packages[a].began.Compare(r.packages[b].began) }) {
		if names := r.packages[name].longest(now); names != "" {
			parts = append(parts, r.short(name)+" "+names)
		}
	}
	state := fmt.Sprintf("%d tests and %d packages are done", r.passed, r.ended)
	if r.failedPackages > 0 {
		state += fmt.Sprintf(", %d of them failed", r.failedPackages)
	}
	fmt.Fprintf(r.aside, "%s: %s; running: %s\n", r.at(now), state, cmp.Or(strings.Join(parts, "; "), "builds"))
}

// running are the tests that run, in the order in which they began: without
// those that wait, for others or for their own subtests.
func (p *tests) running() []string {
	var names []string
	for name, began := range p.open {
		outer := false
		for other := range p.open {
			outer = outer || strings.HasPrefix(other, name+"/")
		}
		if !outer && !began.IsZero() {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return p.open[a].Compare(p.open[b]) })
	return names
}

// longest names the tests that have run for the longest time.
func (p *tests) longest(now time.Time) string {
	names := p.running()
	var parts []string
	for i, name := range names {
		if i == mostNamed {
			parts = append(parts, fmt.Sprintf("%d more", len(names)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %.0fs", name, now.Sub(p.open[name]).Seconds()))
	}
	return strings.Join(parts, ", ")
}

func (r *report) at(now time.Time) string { return now.Sub(r.began).Truncate(time.Second).String() }

func (r *report) short(pkg string) string {
	return strings.TrimPrefix(strings.TrimPrefix(pkg, r.module), "/")
}

// close ends the report with what runs the failed tests again.
func (r *report) close(target string, code int) {
	to := r.out
	if r.raw {
		to = r.aside
	}
	if len(r.failed) > 0 {
		fmt.Fprintln(to, "Run again what failed:")
	}
	for _, f := range r.failed {
		fmt.Fprintf(to, "  %s\n", f.line(target, r.module, r.tags))
	}
	if code != 0 && !r.raw {
		fmt.Fprintln(r.out, "FAIL")
	}
}

package main

import (
	"regexp"
	"slices"
	"strings"
)

// rerun is a test that failed, or a package whose failure is no test's.
type rerun struct{ pkg, test string }

// reruns are the tests to run again of a package that failed: the innermost that
// failed, and those that were running when the package ended before its time.
func reruns(pkg string, p *tests) (all []rerun) {
	failed := append(slices.Clone(p.failed), p.running()...)
	slices.Sort(failed)
	failed = slices.Compact(failed) // -count runs a test several times
	for _, name := range failed {
		outer := slices.ContainsFunc(failed, func(other string) bool { return strings.HasPrefix(other, name+"/") })
		if !outer {
			all = append(all, rerun{pkg, name})
		}
	}
	if len(all) == 0 {
		return []rerun{{pkg: pkg}}
	}
	return all
}

// line is the command that runs it again: as names the target and the variable
// of the packages, as in "make test pkg".
func (f rerun) line(as, module, tags string) string {
	folder := f.pkg
	if below, ours := strings.CutPrefix(f.pkg, module); ours {
		folder = "." + below
	}
	var args []string
	if tags != "" {
		args = append(args, "-tags "+tags)
	}
	if f.test != "" {
		args = append(args, "-run "+pattern(f.test)+" -count=1")
	}
	line := as + "=" + folder
	if len(args) > 0 {
		line += " args='" + strings.Join(args, " ") + "'"
	}
	return line
}

// odd is what means something in a pattern, to the shell or to make.
var odd = regexp.MustCompile(`[^A-Za-z0-9_/=,:-]`)

// pattern selects one test: "TestX/sqlite" is ^TestX$/^sqlite$.
func pattern(test string) string {
	parts := strings.Split(odd.ReplaceAllString(test, "."), "/")
	return "^" + strings.Join(parts, "$/^") + "$"
}

// Package house holds the rules of the house that no linter knows, as tests: sizes, and what
// hand-written Go does not do. Generated code and testdata folders are not read.
package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

const (
	maxFile     = 400 // lines
	maxFunction = 80  // lines
)

// wallClocks are the files and folders that may ask the machine for the time, and what for. None of
// them lets it reach a row or an answer. Everything else is handed its time. Tests measure, so they may.
var wallClocks = map[string]string{
	"cmd/":                        "the edge: a person's terminal",
	"schema/":                     "how long a migration and the wait for its lock took",
	"server/control/loops.go":     "how long a pass took",
	"server/control/ready.go":     "how old a finding is",
	"server/metrics/metrics.go":   "how old a figure is",
	"server/store/clock.go":       "the clock itself",
	"server/store/pgacquire.go":   "what is left of a wait",
	"server/store/pgbeside.go":    "how long ago nothing came",
	"server/store/pgqueue.go":     "how long somebody waited",
	"server/store/pgstatement.go": "the bound of a statement",
	"server/store/sqlite.go":      "what is left of a deadline",
	"server/store/writing.go":     "how long ago writes fared so",
	"server/store/stats.go":       "how long a statement took",
	"server/web/accesslog.go":     "how long a request took",
	"tools/runtests/":             "how long tests have been running",
	"server/web/deadline.go":      "deadlines of the connection, which the kernel keeps",
	"server/web/readon.go":        "the same",
}

// source is one parsed file; its name is relative to the repository's root.
type source struct {
	name string
	text []byte
	fset *token.FileSet
	ast  *ast.File
}

func TestFilesAndFunctionsStaySmall(t *testing.T) {
	eachSource(t, "../..", func(src source) {
		report(t, src.oversized())
	})
}

func TestHandWrittenCodeKeepsTheHouseRules(t *testing.T) {
	eachSource(t, "../..", func(src source) {
		report(t, src.forbidden())
	})
}

// Each rule is shown a file that breaks it, and one that only looks as if it did.
func TestTheRulesSeeWhatTheyForbid(t *testing.T) {
	long := "package p\nfunc f() {\n" + strings.Repeat("_ = 1\n", maxFunction) + "}\n"
	tests := map[string]struct {
		file, text string
		want       int
	}{
		"long file":              {"a.go", "package p\n" + strings.Repeat("\n", maxFile), 1},
		"long function":          {"a.go", long, 1},
		"skip":                   {"a_test.go", "package p\nfunc f(t T) { t.Skip(1); t.Skipf(``); t.SkipNow() }", 3},
		"sleep in a test":        {"a_test.go", "package p\nimport \"time\"\nfunc f() { time.Sleep(1) }", 1},
		"sleep in a bubble":      {"a_test.go", "package p\nfunc f() { synctest.Test(t, func() { time.Sleep(1) }) }", 0},
		"wall clock":             {"server/jobs/a.go", "package p\nfunc f() { _ = time.Now(); _ = time.Since(x) }", 2},
		"wall clock as a value":  {"server/jobs/a.go", "package p\nvar now = time.Now", 1},
		"wall clock in the cmd":  {"cmd/stint/a.go", "package p\nfunc f() { _ = time.Now() }", 0},
		"wall clock in a test":   {"server/jobs/a_test.go", "package p\nfunc f() { _ = time.Now() }", 0},
		"another Now":            {"server/jobs/a.go", "package p\nfunc f() { _ = store.Now() }", 0},
		"package without a name": {"server/util/a.go", "package util", 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			src := parse(t, tt.file, []byte(tt.text))
			got := append(src.oversized(), src.forbidden()...)
			if len(got) != tt.want {
				t.Errorf("got %d findings, want %d: %q", len(got), tt.want, got)
			}
		})
	}
}

func report(t *testing.T, findings []string) {
	t.Helper()
	for _, line := range findings {
		t.Error(line)
	}
}

// eachSource calls fn for every hand-written Go file below root.
func eachSource(t *testing.T, root string, fn func(source)) {
	t.Helper()
	files := 0
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && (name == "gen" || strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		files++
		fn(parse(t, name, text))
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("read %d files: %v", files, err)
	}
}

func parse(t *testing.T, name string, text []byte) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{name: name, text: text, fset: fset, ast: file}
}

func (src source) isTest() bool { return strings.HasSuffix(src.name, "_test.go") }

func (src source) line(pos token.Pos) int { return src.fset.Position(pos).Line }

func (src source) oversized() (found []string) {
	if n := bytes.Count(src.text, []byte("\n")); n > maxFile {
		found = append(found, fmt.Sprintf("%s: %d lines; %d is two stories", src.name, n, maxFile))
	}
	ast.Inspect(src.ast, func(n ast.Node) bool {
		fn, ok := n.(*ast.FuncDecl)
		if !ok {
			return true
		}
		if n := src.line(fn.End()) - src.line(fn.Pos()) + 1; n > maxFunction {
			found = append(found, fmt.Sprintf("%s:%d: %s has %d lines; %d is split", src.name, src.line(fn.Pos()), fn.Name.Name, n, maxFunction))
		}
		return false
	})
	return found
}

func (src source) forbidden() (found []string) {
	add := func(pos token.Pos, what string) {
		found = append(found, fmt.Sprintf("%s:%d: %s", src.name, src.line(pos), what))
	}
	if slices.Contains([]string{"util", "utils", "common", "helpers", "models", "misc"}, src.ast.Name.Name) {
		add(src.ast.Name.Pos(), "package "+src.ast.Name.Name+" says nothing: packages are nouns of the domain")
	}
	ast.Inspect(src.ast, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && selects(call.Fun, "synctest", "Test") {
			return false // time in a bubble is made up: sleeping there waits for nothing
		}
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch name := sel.Sel.Name; {
		case src.isTest() && (name == "Skip" || name == "Skipf" || name == "SkipNow"):
			add(n.Pos(), name+": a test that cannot run fails and says what to run")
		case src.isTest() && selects(sel, "time", "Sleep"):
			add(n.Pos(), "time.Sleep in a test: wait for what must happen")
		case !src.isTest() && !src.mayReadClock() && (selects(sel, "time", "Now", "Since", "Until")):
			add(n.Pos(), "time."+name+": the time is an argument, it comes from store.Clock")
		}
		return true
	})
	return found
}

func (src source) mayReadClock() bool {
	for place := range wallClocks {
		if src.name == place || strings.HasSuffix(place, "/") && strings.HasPrefix(src.name, place) {
			return true
		}
	}
	return false
}

// selects tells whether x is pkg.name for one of the names.
func selects(x ast.Expr, pkg string, names ...string) bool {
	sel, ok := x.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg && slices.Contains(names, sel.Sel.Name)
}

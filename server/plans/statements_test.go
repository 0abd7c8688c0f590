package plans

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stint-run/stint/server/store"
)

// statement is one generated query text.
type statement struct{ name, sql string }

var engines = []string{store.SQLite, store.Postgres}

// statements reads the query texts out of the generated accessors of an engine,
// so that a new one is covered without being named here.
func statements(t *testing.T, engine string) []statement {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "gen", engine, "*.sql.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no generated files: %v", err)
	}
	var out []statement
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && spec.Names[0].IsExported() && len(spec.Values) == 1 {
				if text, err := constant(spec.Values[0]); err == nil && strings.Contains(text, "-- name: ") {
					out = append(out, statement{spec.Names[0].Name, text})
				}
			}
			return true
		})
	}
	return out
}

// constant is a string literal, or several joined by +.
func constant(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.BinaryExpr:
		left, err := constant(e.X)
		if err != nil {
			return "", err
		}
		right, err := constant(e.Y)
		return left + right, err
	}
	return "", fmt.Errorf("%T is no string", e)
}

// bare is a statement without its comments.
func (s statement) bare() string {
	return strings.TrimSpace(regexp.MustCompile(`(?m)^\s*--.*$`).ReplaceAllString(s.sql, ""))
}

var placeholder = regexp.MustCompile(`[$?](\d+)`)

// arguments is how many arguments a statement takes.
func (s statement) arguments() (n int) {
	for _, m := range placeholder.FindAllStringSubmatch(s.bare(), -1) {
		i, _ := strconv.Atoi(m[1])
		n = max(n, i)
	}
	return n
}

// comparison matches the comparison by which a page goes on after a position.
var comparison = regexp.MustCompile(`\(\s*(?:\w+\.)?\w+\s*,\s*(?:\w+\.)?\w+\s*\)\s*[<>]`)

func TestBothEnginesHaveTheSameStatements(t *testing.T) {
	t.Parallel()
	var names [2][]string
	for i, engine := range engines {
		for _, s := range statements(t, engine) {
			names[i] = append(names[i], s.name)
		}
		slices.Sort(names[i])
	}
	if !slices.Equal(names[0], names[1]) || len(names[0]) < 40 {
		t.Errorf("%s: %v\n%s: %v", engines[0], names[0], engines[1], names[1])
	}
	for name := range residual {
		if !slices.Contains(names[0], name) {
			t.Errorf("there is no statement %s: take it out of residual (server/plans/residual_test.go)", name)
		}
	}
}

// byName are the pages that begin behind a name, which is unique; ConnectionPage begins behind a connector, whose
// own connections another statement reads.
var byName = []string{
	"KindPage", "WorkerPage", "ConnectorPage", "ConnectionPage",
	"ConnectionWalk", "DayCountWalk", "OwnerSeqWalk", "RecordWalkFigures", "RunWalkOfConnection",
}

func TestEveryListIsAKeysetPageOrBoundByItsArguments(t *testing.T) {
	t.Parallel()
	for _, engine := range engines {
		for _, s := range statements(t, engine) {
			page := strings.Contains(s.name, "Page") || strings.Contains(s.name, "Walk")
			if page && !comparison.MatchString(s.bare()) && !slices.Contains(byName, s.name) {
				t.Errorf("%s: %s has no row comparison", engine, s.name)
			}
			if sql := s.bare(); page && !regexp.MustCompile(`\slimit\s`).MatchString(sql) || regexp.MustCompile(`\soffset\s`).MatchString(sql) {
				t.Errorf("%s: %s is not bounded by a limit alone", engine, s.name)
			}
		}
	}
}

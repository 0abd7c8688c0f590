package dbtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"
)

// Root is the folder of the module.
func Root(t *testing.T) string {
	t.Helper()
	return must(t)(moduleRoot())
}

// Statements are the SQL texts of every generated accessor of an engine, by
// name: the constants that sqlc exports.
func Statements(t *testing.T, engine string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Root(t), "gen", engine, "*.sql.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("generated statements of %s: %v, %v", engine, files, err)
	}
	texts := map[string]string{}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
				if text, ok := literal(spec.Values[0]); ok {
					texts[spec.Names[0].Name] = text
				}
			}
			return true
		})
	}
	return texts
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
